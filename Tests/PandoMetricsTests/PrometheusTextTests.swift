import PandoMetrics
import Testing

@Suite struct PrometheusTextTests {
  @Test func `figures of one name stand together below their help and type`() {
    let figures = [
      Measurement("pando_nodes", "Nodes.", labels: ["store": "a"], .gauge(3)),
      Measurement("pando_commits_total", "Writes.", .counter(7)),
      Measurement("pando_nodes", "Nodes.", labels: ["store": "b"], .gauge(0.25)),
    ]
    #expect(
      figures.prometheusText == """
        # HELP pando_nodes Nodes.
        # TYPE pando_nodes gauge
        pando_nodes{store="a"} 3
        pando_nodes{store="b"} 0.25
        # HELP pando_commits_total Writes.
        # TYPE pando_commits_total counter
        pando_commits_total 7

        """)
  }

  @Test func `a histogram counts up to each bound`() {
    var histogram = Histogram(bounds: [0.5, 1])
    for value in [0.25, 0.75, 0.75, 8] { histogram.record(value) }
    let text = [Measurement("lag_seconds", "Lag.", labels: ["z": "1"], .histogram(histogram))]
      .prometheusText
    #expect(
      text == """
        # HELP lag_seconds Lag.
        # TYPE lag_seconds histogram
        lag_seconds_bucket{z="1",le="0.5"} 1
        lag_seconds_bucket{z="1",le="1"} 3
        lag_seconds_bucket{z="1",le="+Inf"} 4
        lag_seconds_sum{z="1"} 9.75
        lag_seconds_count{z="1"} 4

        """)
  }

  @Test func `quotes, backslashes and line breaks are escaped`() {
    let label = "a\"b\\c\nd"
    let text = [Measurement("x", "one\\two\nthree \"four\"", labels: ["l": label], .gauge(.nan))]
      .prometheusText
    #expect(
      text == """
        # HELP x one\\\\two\\nthree "four"
        # TYPE x gauge
        x{l="a\\"b\\\\c\\nd"} NaN

        """)
  }

  @Test func `numbers without a value have words`() {
    let text = [
      Measurement("x", "X.", .gauge(.infinity)), Measurement("y", "Y.", .gauge(-.infinity)),
    ]
    .prometheusText
    #expect(text.contains("\nx +Inf\n"))
    #expect(text.contains("\ny -Inf\n"))
    #expect([Measurement("z", "Z.", .gauge(1e18))].prometheusText.contains("\nz 1e+18\n"))
  }
}
