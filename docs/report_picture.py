"""The picture of the page of the report: ``python -m docs.report_picture``, with a Chromium."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import SelectBestK
from bestk.report import make_report

FILE = Path(__file__).with_name("pictures") / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1040, "height": 1500}


def write_picture(file: Path = FILE) -> None:
    """Write the upper part of a report as a browser shows it."""
    from playwright.sync_api import sync_playwright

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = np.where(y, "benign", "malignant")
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        page = Path(folder, "report.html")
        fitted = SelectBestK(10, random_state=0).fit(X, labels)
        make_report(fitted, X, labels, target="diagnosis").save(page)
        window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = window.new_page(viewport=SIZE)
        tab.goto(page.as_uri())
        tab.screenshot(path=str(file))
        window.close()


if __name__ == "__main__":
    write_picture()
