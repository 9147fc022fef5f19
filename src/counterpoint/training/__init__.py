"""The Lightning shell: no mathematics, all the rest."""
