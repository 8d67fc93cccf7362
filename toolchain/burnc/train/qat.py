"""Quantization-aware training: the network sees int8's grid while it learns, then becomes int8 by the same scales.

The float network is brought to canonical form first (norms folded, activations fused), as the quantizer does, so that
what is rounded while training is what the int8 graph rounds. Activation ranges are calibrated anew for some epochs and
then stay; weight scales follow the weights, epoch by epoch.
Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference",
2018.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from burnc.errors import QuantizationError
from burnc.ir import Array, Graph, QuantParams, Value
from burnc.ops import spec_of
from burnc.passes import AbsorbEdges, AbsorbQdq, RemoveDeadCode, run_passes
from burnc.passes.fake_quant import ConvertFakeQuant, Inserted, insert_fake_quant
from burnc.passes.rebatch import rebatch
from burnc.quant import MinMax, Observer, Range, calibrate, check_accumulators, prepare
from burnc.quant.groups import activation_params, why_not_int8
from burnc.quant.weights import quantize_weights
from burnc.train.capture import Captured


class QuantizationAware:
    """A float network under quantization-aware training.

    Args:
        graph: the trained float network; it stays as it is.
        samples: what activation ranges are drawn from, by input name.

    Raises:
        QuantizationError: an operator has no int8 form.
    """

    def __init__(self, graph: Graph, samples: Mapping[str, Array], observer: Callable[[], Observer] = MinMax) -> None:
        self._float = prepare(graph)
        self._samples, self._observer = samples, observer
        refused = [(n, why) for n in self._float.nodes if (why := why_not_int8(n))]
        if refused:
            listed = "; ".join(f"node {n.name!r} ({n.op}): {why}" for n, why in refused)
            raise QuantizationError(f"{len(refused)} operators have no int8 form", where=listed)
        self.arrays: dict[str, Array] = {
            v.name: v.data for v in self._float.constants() if v.data is not None and v.type.dtype.is_float
        }
        self._ranges: dict[str, Range] = {}
        self.calibrate()

    def calibrate(self) -> None:
        """Draw activation ranges anew, with the parameters of now."""
        self._ranges = calibrate(self._with_arrays(self._float), self._samples, observer=self._observer)

    def _with_arrays(self, graph: Graph) -> Graph:
        result = graph.copy()
        for value in result.constants():
            if value.name in self.arrays:
                value.data = self.arrays[value.name]
        return result

    def captured(self, batch: int) -> Captured:
        """The network with fake_quant nodes, parameters and scales as inputs, for so many samples at once."""
        graph = rebatch(self._float, batch)
        inserted = self._insert(graph)
        parameters = {v.name: v for v in graph.constants() if v.name in self.arrays}
        scales = [*inserted.weights.values(), *(v for pair in inserted.activations.values() for v in pair)]
        for value in [*parameters.values(), *scales]:
            value.data = None
            graph.inputs.append(value)
        return Captured(graph, parameters)

    def _insert(self, graph: Graph) -> Inserted:
        nodes = list(graph.nodes)
        return insert_fake_quant(graph, self._activations(graph), nodes)

    def _activations(self, graph: Graph) -> dict[Value, QuantParams]:
        return activation_params(graph, graph.nodes, self._ranges)[0]

    def scales(self) -> dict[str, Array]:
        """Scales and zero points for the parameters and ranges of now, by the names of the inputs of ``captured``."""
        graph = self._with_arrays(self._float)
        chosen = self._activations(graph)
        found: dict[str, Array] = {}
        for value, quant in chosen.items():
            found[f"{value.name}.scale"] = np.array(quant.scale[0], np.float32)
            found[f"{value.name}.zero_point"] = np.array(quant.zero_point[0], np.float32)
        for node in graph.nodes:
            rule = spec_of(node).quant
            if rule is None or rule.weights is None:
                continue
            weights = node.input(rule.weights)
            bias = node.inputs[rule.bias] if rule.bias is not None and rule.bias < len(node.inputs) else None
            held = quantize_weights(
                self.arrays[weights.name],
                rule.weight_axis,
                input_scale=chosen[node.input(0)].scale[0],
                bias=None if bias is None else self.arrays[bias.name],
            )
            shape = [-1 if axis == rule.weight_axis else 1 for axis in range(weights.type.rank)]
            found[f"{weights.name}.scale"] = np.array(held.quant.scale, np.float32).reshape(shape)
        return found

    def float_graph(self) -> Graph:
        """The network without rounding, with the parameters of now."""
        return self._with_arrays(self._float)

    def fake_quant_graph(self) -> Graph:
        """The network as it is trained: fake_quant nodes with constant operands."""
        graph = self._with_arrays(self._float)
        self._insert(graph)
        scales = self.scales()
        for value in graph.constants():
            if value.name in scales:
                value.data = scales[value.name]
        return graph

    def int8_graph(self) -> Graph:
        """The network in int8: quantize and dequantize in place of fake_quant, absorbed into int8 operators.

        Raises:
            QuantizationError: an accumulator could overflow, or an operator would stay float.
        """
        graph = self.fake_quant_graph()
        run_passes(graph, [ConvertFakeQuant()])
        run_passes(graph, [AbsorbQdq(), AbsorbEdges(), RemoveDeadCode()])
        left = [n for n in graph.nodes if any(v.type.dtype.is_float for v in [*n.present_inputs, *n.outputs])]
        if left:
            listed = ", ".join(f"{n.name!r} ({n.op})" for n in left)
            raise QuantizationError("operators stayed float", where=f"nodes {listed}")
        check_accumulators(graph)
        return graph
