/// The cost of an operation as the data grows.
struct CostPlot {
  let title: String
  let unit: String
  /// The mean time of an operation in nanoseconds, by size, for each system.
  let curves: [(system: System, points: [(size: Double, cost: Double)])]

  /// The plots of all families of workloads that differ in size only.
  static func all(_ results: [WorkloadResult]) -> [CostPlot] {
    var names: [String] = []
    for case let series? in results.map(\.series) where !names.contains(series.name) {
      names.append(series.name)
    }
    return names.compactMap { name in
      let own = results.filter { $0.series?.name == name }
      guard own.count > 1, let first = own.first, let unit = first.series?.unit else { return nil }
      return CostPlot(
        title: name, unit: unit,
        curves: System.allCases.compactMap { system in
          let points = own.compactMap { result in
            result.entry(system).map { entry in
              (size: Double(result.series?.size ?? 0), cost: 1e9 / entry.operationsPerSecond)
            }
          }
          return points.isEmpty ? nil : (system, points)
        })
    }
  }

  var svg: String {
    var drawing = Drawing(width: 520, height: 290)
    let (left, right, top, bottom) = (78.0, 480.0, 46.0, 230.0)
    let points = curves.flatMap(\.points)
    let across = LogarithmicScale(points.map(\.size), from: left, to: right)
    let up = LogarithmicScale(points.map(\.cost), from: bottom, to: top)
    drawing.text("\(title): time of an operation", x: 8, y: 16)
    for tick in up.ticks {
      let y = up.position(tick)
      drawing.line(x1: left, y1: y, x2: right, y2: y)
      drawing.text(UInt64(tick).asTime, x: left - 8, y: y + 4, anchor: .end)
    }
    for tick in across.ticks {
      let x = across.position(tick)
      drawing.line(x1: x, y1: top, x2: x, y2: bottom)
      drawing.text(tick.grouped, x: x, y: bottom + 16, anchor: .middle)
    }
    drawing.text(unit, x: (left + right) / 2, y: bottom + 36, anchor: .middle)
    drawing.text("time", x: 14, y: (top + bottom) / 2, anchor: .middle, isTurned: true)
    for (number, curve) in curves.enumerated() {
      drawing.curve(
        curve.points.map { (x: across.position($0.size), y: up.position($0.cost)) },
        color: curve.system.color, hasDots: true)
      let x = left + Double(number) * 100
      drawing.line(x1: x, y1: 30, x2: x + 18, y2: 30, color: curve.system.color, width: 3)
      drawing.text(curve.system.title, x: x + 23, y: 34)
    }
    return drawing.svg
  }
}
