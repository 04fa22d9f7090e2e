/// How long operations take: for each share of them, the time within which they ended.
struct LatencyPlot {
  let result: WorkloadResult

  /// Shares, and how far to the right they stand; the rare ones get as much room as the others.
  private static let shares: [(share: Double, label: String)] = [
    (0.1, "10 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"),
    (0.9999, "99.99 %"), (1, "max"),
  ]

  var svg: String {
    let entries = result.entries.filter { $0.latencies.count > 1 }
    guard !entries.isEmpty else { return "" }
    var drawing = Drawing(width: 760, height: 210)
    let (left, right, top, bottom) = (78.0, 600.0, 14.0, 160.0)
    let values = entries.flatMap { entry in
      Self.shares.map { Double(entry.latencies.nanoseconds(atShare: $0.share)) }
    }
    let scale = LogarithmicScale(values, from: bottom, to: top)
    let step = (right - left) / Double(Self.shares.count - 1)
    for tick in scale.ticks {
      let y = scale.position(tick)
      drawing.line(x1: left, y1: y, x2: right, y2: y)
      drawing.text(UInt64(tick).asTime, x: left - 8, y: y + 4, anchor: .end)
    }
    for (index, share) in Self.shares.enumerated() {
      let x = left + Double(index) * step
      drawing.line(x1: x, y1: top, x2: x, y2: bottom)
      drawing.text(share.label, x: x, y: bottom + 16, anchor: .middle)
    }
    drawing.text(
      "share of operations that ended within the time", x: (left + right) / 2, y: bottom + 36,
      anchor: .middle)
    drawing.text("latency", x: 14, y: (top + bottom) / 2, anchor: .middle, isTurned: true)
    for (number, entry) in entries.enumerated() {
      let points = Self.shares.enumerated().map { index, share in
        (
          x: left + Double(index) * step,
          y: scale.position(Double(entry.latencies.nanoseconds(atShare: share.share)))
        )
      }
      drawing.curve(points, color: entry.system.color, hasDots: true)
      let y = top + 12 + Double(number) * 18
      drawing.line(
        x1: right + 14, y1: y - 4, x2: right + 34, y2: y - 4, color: entry.system.color, width: 3)
      drawing.text(entry.system.title, x: right + 40, y: y)
    }
    return drawing.svg
  }
}
