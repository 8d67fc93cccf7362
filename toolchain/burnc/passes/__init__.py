"""Rewrites that keep a graph's meaning, one a file, and the order in which they are run."""

from burnc.passes.absorb_qdq import AbsorbEdges, AbsorbQdq
from burnc.passes.drop_identity import DropIdentity
from burnc.passes.fold_batch_norm import FoldBatchNorm
from burnc.passes.fold_bias import FoldBias
from burnc.passes.fold_constants import FoldConstants
from burnc.passes.fuse_activation import FuseActivation
from burnc.passes.fuse_squared_difference import FuseSquaredDifference
from burnc.passes.integers_move import IntegersMove
from burnc.passes.join_tables import JoinTables
from burnc.passes.keep_state import KeepState
from burnc.passes.matmul_to_fully_connected import MatmulToFullyConnected
from burnc.passes.order_operands import OrderOperands
from burnc.passes.remove_dead_code import RemoveDeadCode
from burnc.passes.restore_names import RestoreNames
from burnc.passes.rewrite import Change, Pass, RewritePass, merge_changes, run_passes
from burnc.passes.sign_integers import SignIntegers
from burnc.passes.sink_transposes import SinkTransposes
from burnc.passes.widen_float16 import WidenFloat16

WITH_WEIGHTS = ("conv2d", "conv_transpose2d", "fully_connected")


def canonical_passes() -> list[Pass]:
    """What every imported graph goes through: constants folded, NHWC, norms and biases folded, activations fused."""
    from burnc.ops import operators

    fused = [name for name, spec in operators().items() if spec.has_activation and name != "clip"]
    return [
        RemoveDeadCode(),
        DropIdentity(),
        WidenFloat16(),
        FoldConstants(),
        SignIntegers(),
        IntegersMove(),
        OrderOperands(),
        MatmulToFullyConnected(),
        SinkTransposes(),
        *(FoldBatchNorm(name) for name in WITH_WEIGHTS),
        *(FoldBias(name) for name in WITH_WEIGHTS),
        *(FuseActivation(name) for name in fused),
        FuseSquaredDifference(),
    ]


__all__ = [
    "AbsorbEdges",
    "AbsorbQdq",
    "Change",
    "DropIdentity",
    "FoldBatchNorm",
    "FoldBias",
    "FoldConstants",
    "FuseActivation",
    "FuseSquaredDifference",
    "IntegersMove",
    "JoinTables",
    "KeepState",
    "MatmulToFullyConnected",
    "OrderOperands",
    "Pass",
    "RemoveDeadCode",
    "RestoreNames",
    "RewritePass",
    "SignIntegers",
    "SinkTransposes",
    "WidenFloat16",
    "canonical_passes",
    "merge_changes",
    "run_passes",
]
