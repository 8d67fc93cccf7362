"""ONNX files as graphs: read, bound, converted to one opset, constants evaluated, operators mapped."""

from burnc.importers.onnx.importer import import_onnx

__all__ = ["import_onnx"]
