import Foundation

/// Pando in terms of each other system, a bar each, to the right where Pando is ahead.
struct BarPlot {
  let ratios: [Comparison]
  let suite: SuiteName

  private let rowHeight = 17.0
  private let labelWidth = 330.0
  private let plotWidth = 560.0

  var svg: String {
    guard !ratios.isEmpty else { return "" }
    let top = 44.0
    let bottom = top + Double(ratios.count) * rowHeight
    var drawing = Drawing(width: labelWidth + plotWidth + 90, height: bottom + 44)
    let values = ratios.map(\.value) + ratios.compactMap { $0.goal?.value } + [0.5, 2]
    let scale = LogarithmicScale(values, from: labelWidth, to: labelWidth + plotWidth)
    drawing.text("\(suite.rawValue): operations per second, Pando : other system", x: 8, y: 16)
    drawing.text("black line: the goal", x: labelWidth + plotWidth, y: 16, anchor: .end)
    drawAxis(&drawing, scale, top, bottom)
    for (index, ratio) in ratios.enumerated() {
      draw(ratio, at: top + Double(index) * rowHeight, &drawing, scale)
    }
    return drawing.svg
  }

  private func drawAxis(
    _ drawing: inout Drawing, _ scale: LogarithmicScale, _ top: Double, _ bottom: Double
  ) {
    for tick in scale.ticks {
      let x = scale.position(tick)
      drawing.line(x1: x, y1: top, x2: x, y2: bottom)
      drawing.text(tick < 1 ? "\(tick)" : tick.grouped, x: x, y: bottom + 16, anchor: .middle)
    }
    let one = scale.position(1)
    drawing.line(x1: one, y1: top - 4, x2: one, y2: bottom, color: "#888", width: 1.5)
    drawing.text("← the other is ahead", x: one - 8, y: top - 8, anchor: .end, color: "#b3261e")
    drawing.text("Pando is ahead →", x: one + 8, y: top - 8, color: "#1a7f37")
    drawing.text(
      "ratio (logarithmic)", x: labelWidth + plotWidth / 2, y: bottom + 34, anchor: .middle)
  }

  private func draw(
    _ ratio: Comparison, at y: Double, _ drawing: inout Drawing, _ scale: LogarithmicScale
  ) {
    let reference = ratio.name.split(separator: ":").last.flatMap { System(rawValue: String($0)) }
    let title = ratio.title.replacing("\(suite.rawValue) ", with: "")
    drawing.text(title, x: labelWidth - 8, y: y + 12, anchor: .end)
    let (one, end) = (scale.position(1), scale.position(ratio.value))
    drawing.rectangle(
      x: min(one, end), y: y + 2, width: max(1, abs(end - one)), height: rowHeight - 5,
      color: reference?.color ?? "#888")
    if let goal = ratio.goal {
      let x = scale.position(goal.value)
      drawing.line(x1: x, y1: y, x2: x, y2: y + rowHeight - 1, color: "#000", width: 2.5)
    }
    drawing.text(
      ratio.value.short + (ratio.isReached ? "" : " missed"), x: labelWidth + plotWidth + 8,
      y: y + 12, color: ratio.isReached ? nil : "#b3261e")
  }
}
