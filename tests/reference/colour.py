"""Colour spaces, one pixel at a time, from their definitions."""


def linear(value):
    """Undo sRGB's gamma (IEC 61966-2-1)."""
    return ((value + 0.055) / 1.055) ** 2.4 if value > 0.04045 else value / 12.92


def lab(red, green, blue):
    """CIE 1976 L*a*b* under D65, 2 degrees."""
    r, g, b = linear(red), linear(green), linear(blue)
    x = (0.412453 * r + 0.357580 * g + 0.180423 * b) / 0.95047
    y = 0.212671 * r + 0.715160 * g + 0.072169 * b
    z = (0.019334 * r + 0.119193 * g + 0.950227 * b) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def ycbcr(red, green, blue):
    """ITU-R BT.601 in studio range, from its luma weights."""
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    cb, cr = (blue - luma) / 1.772, (red - luma) / 1.402
    return 16 + 219 * luma, 128 + 224 * cb, 128 + 224 * cr
