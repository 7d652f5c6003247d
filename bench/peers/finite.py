"""A peer whose weights are NaN is faster than it should be: a card that multiplies those draws less power and keeps its clock."""
import sys


def check_finite(model):
    broken = [name for name, parameter in model.named_parameters() if not parameter.isfinite().all()]
    if broken:
        sys.exit(f"these weights are not finite, so the times mean nothing: {', '.join(broken)}")
