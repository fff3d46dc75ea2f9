"""Frames of every make keep the names of their columns, or are refused with what to do."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bestk.discretize import CAIM, EqualWidth

VALUES, Y = np.arange(8), [0, 1] * 4


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(np.column_stack([VALUES, VALUES]), columns=["a", "a"]),
        pa.Table.from_arrays([pa.array(VALUES)] * 2, ["a", "a"]),
        pa.RecordBatch.from_arrays([pa.array(VALUES)] * 2, ["a", "a"]),
    ],
    ids=["pandas", "table", "batch"],
)
def test_two_columns_of_one_name_are_refused(X):
    with pytest.raises(ValueError, match="X has two columns named 'a'; rename one of them"):
        CAIM().fit(X, Y)


def test_a_record_batch_keeps_its_names():
    batch = pa.RecordBatch.from_pydict({"b": VALUES, "a": VALUES[::-1]})
    fitted = EqualWidth().fit(batch)
    assert fitted.get_feature_names_out().tolist() == ["b", "a"]
    table = pa.Table.from_batches([batch])
    np.testing.assert_array_equal(fitted.transform(batch), fitted.transform(table))
