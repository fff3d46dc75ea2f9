"""The paper's test of classification: errors of a linear SVM on what each method selects."""
