"""Clusters for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from spark_cluster import SparkCluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """A Spark cluster for all tests that need one."""
    from spark_cluster import SparkCluster

    with SparkCluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="session")
def spark(cluster: SparkCluster) -> Iterator[Any]:
    """A session of that cluster."""
    session = cluster.session()
    yield session
    session.stop()
