import PandoSystem

/// A line on the terminal that shows how far long work has come, how fast, and what is left.
///
/// It draws on standard error, and only where that is a terminal: scripts and log files never see
/// it. Any thread.
final class ProgressBar: Sendable {
  private struct State {
    var done = 0
    var drawnAt: ContinuousClock.Instant?
    var isShown = false
  }

  /// Time between two drawings: smooth to the eye, nothing to the processor.
  private static let drawInterval = Duration.milliseconds(100)

  private let title: String
  private let noun: String
  private let total: Int?
  private let isEnabled: Bool
  private let startedAt = ContinuousClock.now
  private let state = Locked(State())

  /// A bar that is not drawn yet.
  ///
  /// - Parameters:
  ///   - title: What is done, for example `importing`.
  ///   - noun: What is counted, in the plural; `bytes` is shown in units.
  ///   - total: How many there will be, or `nil` when nobody knows.
  ///   - isEnabled: Whether it is drawn; unless given, where standard error is a terminal.
  init(_ title: String, counting noun: String, of total: Int?, isEnabled: Bool? = nil) {
    self.title = title
    self.noun = noun
    self.total = total
    self.isEnabled = isEnabled ?? (isatty(STDERR_FILENO) == 1)
  }

  /// Says how many are done; draws at most ten times a second.
  func advance(to done: Int) {
    guard isEnabled else { return }
    let now = ContinuousClock.now
    let text = state.withLock { state -> String? in
      state.done = done
      if let drawnAt = state.drawnAt, now - drawnAt < ProgressBar.drawInterval { return nil }
      state.drawnAt = now
      state.isShown = true
      return ProgressBar.text(
        title, noun, done: done, total: total, elapsed: now - startedAt)
    }
    if let text { ProgressBar.draw("\r" + text + "\u{1B}[K") }
  }

  /// Takes the bar off the terminal.
  func clear() {
    let wasShown = state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    if wasShown { ProgressBar.draw("\r\u{1B}[K") }
  }

  /// The line itself.
  static func text(
    _ title: String, _ noun: String, done: Int, total: Int?, elapsed: Duration
  ) -> String {
    let isSize = noun == "bytes"
    let shown = isSize ? Figures.bytes(done) : "\(Figures.count(done)) \(noun)"
    let perSecond = Double(done) / max(elapsed / .seconds(1), 1e-9)
    let rate =
      isSize ? Figures.bytes(Int(perSecond)) + "/s" : Figures.rate(done, in: elapsed)
    guard let total, total > 0 else { return "\(title) \(shown), \(rate)" }
    let fraction = min(Double(done) / Double(total), 1)
    let width = 24
    let filled = Int(fraction * Double(width))
    let bar =
      String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    var line = "\(title) \(bar) \(Figures.fixed(fraction * 100, 0)) %, \(shown), \(rate)"
    if done > 0 {
      let left = elapsed * (Double(max(total - done, 0)) / Double(done))
      line += ", \(Figures.duration(left)) left"
    }
    return line
  }

  private static func draw(_ text: String) {
    var bytes = Array(text.utf8)
    // The terminal is an ornament: a failed write changes nothing.
    _ = unsafe bytes.withUnsafeMutableBytes {
      unsafe write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
