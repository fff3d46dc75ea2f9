"""Pipelines with a selector are exported, configured and routed by the tools of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bestk import SelectBestK, SelectBestKCV

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
SELECTORS = [
    SelectBestK(4),
    SelectBestK(4, "exact"),
    SelectBestKCV(LogisticRegression(max_iter=9999), [4], "mrmr", cv=2),
]


def pipeline(selector):
    return make_pipeline(StandardScaler(), selector, LogisticRegression())


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_skops_stores_a_fitted_pipeline(selector):
    io = pytest.importorskip("skops.io", reason="skops is not installed")
    fitted = pipeline(selector).fit(X.to_numpy(), Y)
    stored = io.dumps(fitted)
    unknown = io.get_untrusted_types(data=stored)
    assert all(name.startswith(("bestk.", "builtins.")) for name in unknown)
    again = io.loads(stored, trusted=unknown)
    values = X.to_numpy()
    np.testing.assert_array_equal(again.predict_proba(values), fitted.predict_proba(values))
    assert again[1].solution_.gap == fitted[1].solution_.gap


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_a_fitted_pipeline_is_exported_to_onnx_by_the_converter_of_selectors(selector):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from skl2onnx.operator_converters.feature_selection import (
        convert_sklearn_feature_selection,
    )
    from skl2onnx.shape_calculators.feature_selection import calculate_sklearn_select

    skl2onnx.update_registered_converter(
        type(selector), f"Bestk{type(selector).__name__}", calculate_sklearn_select,
        convert_sklearn_feature_selection,
    )  # fmt: skip
    values = X.to_numpy().astype(np.float32)
    fitted = pipeline(selector).fit(values, Y)
    model = skl2onnx.to_onnx(fitted, values[:1], options={"zipmap": False})
    session = runtime.InferenceSession(model.SerializeToString())
    labels, chances = session.run(None, {"X": values})
    np.testing.assert_array_equal(labels, fitted.predict(values))
    np.testing.assert_allclose(chances, fitted.predict_proba(values), atol=1e-5)


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_the_global_output_makes_frames_with_the_names_of_the_selected(selector, output):
    with config_context(transform_output=output):
        fitted = make_pipeline(StandardScaler(), selector).fit(X, Y)
        out = fitted.transform(X)
    assert type(out).__module__.startswith(output)
    assert list(out.columns) == fitted.get_feature_names_out().tolist()


def test_a_selector_stands_behind_and_inside_a_column_transformer():
    frame = X.assign(site=np.where(np.arange(len(X)) % 3, "left", "right"))
    numbers = list(X.columns)
    encode = ColumnTransformer(
        [("site", OneHotEncoder(sparse_output=False), ["site"]), ("rest", "passthrough", numbers)],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    behind = make_pipeline(encode, SelectBestK(3, column_groups="_")).fit(frame, Y)
    assert set(behind.get_feature_names_out()) <= set(numbers)
    assert behind[-1].feature_names_in_[:2].tolist() == ["site_left", "site_right"]
    inside = ColumnTransformer(
        [("best", SelectBestK(3), numbers), ("site", OneHotEncoder(), ["site"])]
    )
    fitted = inside.fit(frame, Y)
    alone = SelectBestK(3).fit(X, Y).get_feature_names_out()
    expected = [*(f"best__{name}" for name in alone), "site__site_left", "site__site_right"]
    assert fitted.get_feature_names_out().tolist() == expected
    pd.testing.assert_frame_equal(
        pd.DataFrame(fitted.transform(frame)[:, :3], columns=alone), X[alone]
    )


def test_weights_are_routed_through_a_pipeline_with_a_column_transformer():
    weights = np.arange(len(Y)) % 3
    with config_context(enable_metadata_routing=True):
        selector = SelectBestK(2, "mrmr").set_fit_request(sample_weight=True)
        inside = ColumnTransformer([("best", selector, list(X.columns[:10]))])
        model = LogisticRegression(max_iter=9999).set_fit_request(sample_weight=True)
        fitted = make_pipeline(inside, model).fit(X, Y, sample_weight=weights)
    found = fitted[0].named_transformers_["best"]
    alone = SelectBestK(2, "mrmr").fit(X.iloc[:, :10], Y, sample_weight=weights)
    np.testing.assert_array_equal(found.scores_, alone.scores_)
