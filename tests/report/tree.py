"""A page as a tree, by the standard library's parser: enough to ask for elements and words."""

from html.parser import HTMLParser

VOID = {"img", "input", "link", "meta", "br"}


class Node:
    """An element, its attributes, and what is inside it."""

    def __init__(self, name, attributes, parent):
        self.name, self.attributes, self.parent = name, dict(attributes), parent
        self.inside = []

    def all(self, *names):
        """Every element below with one of these names, in the order of the page."""
        found = []
        for child in self.inside:
            if isinstance(child, Node):
                found += ([child] if child.name in names else []) + child.all(*names)
        return found

    def by(self, key, value):
        """The elements of which an attribute has a word."""
        every = [
            node for node in self.everything() if value in node.attributes.get(key, "").split()
        ]
        assert every, f"nothing has {key}={value}"
        return every

    def everything(self):
        below = [child for child in self.inside if isinstance(child, Node)]
        return below + [node for child in below for node in child.everything()]

    @property
    def words(self):
        """Its text, as a reader sees it."""
        return "".join(c if isinstance(c, str) else c.words for c in self.inside)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.at = Node("root", {}, None)

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs, self.at)
        self.at.inside.append(node)
        if tag not in VOID:
            self.at = node

    def handle_endtag(self, tag):
        assert self.at.name == tag, f"</{tag}> closes <{self.at.name}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.inside.append(data)


def tree(file):
    """Read a page; an element that is not closed, or closed twice, is a failure."""
    reader = Reader()
    reader.feed(file.read_text())
    reader.close()
    assert reader.at is reader.root
    return reader.root
