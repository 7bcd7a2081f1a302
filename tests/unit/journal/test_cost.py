"""The work for one row does not grow with the rows that a journal holds."""

import numpy as np

from geex._journal.journal import STORED, Journal


def steps(journal, work):
    """How many instructions SQLite executes for some work, in tens."""
    counted = []
    journal.database.connection.set_progress_handler(lambda: counted.append(1), 10)
    work()
    journal.database.connection.set_progress_handler(None, 0)
    return len(counted)


def filled(journal, rows):
    data = np.ones((1, 2)).tobytes()
    journal.claim("plan", 0, 1)
    with journal.database.commits() as database:
        source = journal._source("plan")
        entries = ((source, row, row + 1, 2, 0, data) for row in range(rows))
        database.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", entries)


def row_work(journal, row):
    def work():
        journal.claim("plan", row, row + 1)
        journal.store("plan", row, np.ones((1, 2)))
        journal.read("plan", row, row + 1)
        journal.stored("plan", row, row + 1)

    return work


def test_the_work_for_a_row_is_flat(tmp_path):
    found = []
    for rows in (100, 20_000):
        with Journal(tmp_path / f"{rows}.geex") as journal:
            filled(journal, rows)
            found.append(steps(journal, row_work(journal, rows)))
    assert found[1] <= 1.5 * found[0]


def test_rows_that_touch_are_one_span(tmp_path):
    with Journal(tmp_path / "run.geex") as journal:
        filled(journal, 100)
        journal.store("plan", 200, np.ones((3, 2)))
        assert journal.stored("plan") == [(0, 100), (200, 203)]
        assert journal.stored("plan", 40, 60) == [(40, 60)]
        assert journal.claim("plan", 5, 90) == [(5, 90, STORED)]
        assert (journal.count("plan"), journal.count("plan", 201), journal.count("other")) == (103, 101, 0)
