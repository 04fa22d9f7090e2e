import PandoSystem

/// A terminal line with the progress, the speed and the remaining time of long work.
///
/// It draws on standard error, and only if that is a terminal: scripts and log files do not get it.
/// Any thread.
final class ProgressBar: Sendable {
  private struct State {
    var done = 0
    var drawnAt: ContinuousClock.Instant?
    var isShown = false
  }

  /// The time between two drawings.
  private static let drawInterval = Duration.milliseconds(100)

  private let title: String
  private let noun: String
  private let total: Int?
  private let isEnabled: Bool
  private let startedAt = ContinuousClock.now
  private let state = Locked(State())

  /// Makes a bar and does not draw it yet.
  ///
  /// - Parameters:
  ///   - title: The operation, for example `importing`.
  ///   - noun: The counted things, in the plural; `bytes` is shown in units.
  ///   - total: The total number, or `nil` if it is unknown.
  ///   - isEnabled: Whether the bar is drawn; by default, if standard error is a terminal.
  init(_ title: String, counting noun: String, of total: Int?, isEnabled: Bool? = nil) {
    self.title = title
    self.noun = noun
    self.total = total
    self.isEnabled = isEnabled ?? (isatty(STDERR_FILENO) == 1)
  }

  /// Sets the number done; draws at most ten times a second.
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

  /// Removes the bar from the terminal.
  func clear() {
    let wasShown = state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    if wasShown { ProgressBar.draw("\r\u{1B}[K") }
  }

  /// Returns the text of the bar.
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
    // A failed write is ignored: the bar is optional.
    _ = unsafe bytes.withUnsafeMutableBytes {
      unsafe write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
