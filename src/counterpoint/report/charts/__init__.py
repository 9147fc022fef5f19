"""Charts as SVG: coloured by the page's style, read without colour by dash, shape and letter."""

from counterpoint.report.charts.bars import Bar, bars
from counterpoint.report.charts.heatmap import heatmap
from counterpoint.report.charts.histogram import histograms
from counterpoint.report.charts.line_chart import Guide, Series, lines
from counterpoint.report.charts.point_chart import point_chart, point_legend
from counterpoint.report.charts.scatter import scatter

__all__ = [
    "Bar",
    "Guide",
    "Series",
    "bars",
    "heatmap",
    "histograms",
    "lines",
    "point_chart",
    "point_legend",
    "scatter",
]
