"""TFLite files as graphs: the flatbuffer read into plain data, then operator by operator through the mappings."""

from burnc.importers.tflite.importer import import_tflite

__all__ = ["import_tflite"]
