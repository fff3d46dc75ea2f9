"""
Export a pipeline to ONNX and to skops
======================================

A model that was trained in Python often runs elsewhere: in a service, in a browser, on a phone.
ONNX describes a fitted pipeline, the selection included, in a file that needs neither Python nor
bestk. skops stores it for Python, in a file that is read without running code, unlike pickle.
"""

import matplotlib.pyplot as plt
import numpy as np
from onnxruntime import InferenceSession
from skl2onnx import to_onnx, update_registered_converter
from skl2onnx.operator_converters.feature_selection import convert_sklearn_feature_selection
from skl2onnx.shape_calculators.feature_selection import calculate_sklearn_select
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops import io

from bestk import SelectBestK

X, y = load_breast_cancer(return_X_y=True)
X = X.astype(np.float32)
train, test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
pipeline = make_pipeline(SelectBestK(k=5), StandardScaler(), LogisticRegression())
pipeline.fit(train, y_train)
print(f"accuracy with 5 of {X.shape[1]} columns: {pipeline.score(test, y_test):.3f}")

# %%
# The converter that skl2onnx has for selectors works for those of bestk. It is registered once.

update_registered_converter(
    SelectBestK, "BestkSelectBestK", calculate_sklearn_select, convert_sklearn_feature_selection
)
model = to_onnx(pipeline, train[:1], options={"zipmap": False}).SerializeToString()
session = InferenceSession(model)
labels, probabilities = session.run(None, {"X": test})
difference = np.abs(probabilities - pipeline.predict_proba(test)).max()
print(f"{len(model):,} bytes; the largest difference of a probability is {difference:.1e}")

# %%
# skops asks which types a file may contain. Those of bestk are listed, to be read and trusted.

stored = io.dumps(pipeline)
unknown = io.get_untrusted_types(data=stored)
print(unknown)
again = io.loads(stored, trusted=unknown)
print(f"the same solution: {again[0].solution_.support.tolist()}")

# %%
fig, ax = plt.subplots(figsize=(4.4, 4.2), layout="constrained")
ax.plot(pipeline.predict_proba(test)[:, 1], probabilities[:, 1], "o", alpha=0.5)
ax.axline((0, 0), slope=1, color="0.7", zorder=0)
ax.set(xlabel="probability in scikit-learn", ylabel="probability in ONNX Runtime")
plt.show()
