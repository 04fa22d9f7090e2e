import PandoSystem

/// A terminal with one full-screen view, restored at the end.
final class TerminalWindow: Sendable {
  /// The size of the window.
  struct Size: Sendable, Equatable {
    var rows: Int
    var columns: Int
  }

  private struct State {
    /// The former settings of standard input; `nil` if it is no terminal.
    var before: termios?
    var hasLeft = false
  }

  private let state = Locked(State())

  /// Takes the terminal over.
  ///
  /// - Returns: `nil` if standard output is no terminal.
  init?() {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var settings = termios()
    guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else {
      TerminalWindow.write(TerminalWindow.entering)
      return
    }
    state.withLock { [settings] in $0.before = settings }
    // Keys are read one by one, without echo. Ctrl-C works; the keys for quit and suspend do not.
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    settings.c_iflag &= ~tcflag_t(IXON)
    unsafe withUnsafeMutableBytes(of: &settings.c_cc) { keys in
      for key in [VQUIT, VSUSP] { unsafe keys[Int(key)] = 0 }
    }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    TerminalWindow.write(TerminalWindow.entering)
  }

  /// The alternate screen, without a cursor and without automatic line breaks.
  private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Restores the terminal, once.
  func leave() {
    state.withLock { state in
      if exchange(&state.hasLeft, with: true) { return }
      // Settings first: a stopped terminal accepts no text.
      if var settings = state.before { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
      TerminalWindow.write(TerminalWindow.leaving)
    }
  }

  /// Draws, unless the terminal is restored.
  func draw(_ body: () throws -> Void) rethrows {
    try state.withLock { state in
      if !state.hasLeft { try body() }
    }
  }

  /// The present size of the window.
  var size: Size {
    var window = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 0 else {
      return Size(rows: 24, columns: 80)
    }
    return Size(rows: Int(window.ws_row), columns: Int(window.ws_col))
  }

  /// Returns the output that draws lines over the whole window, cut to its size.
  func frame(_ lines: [String]) -> String {
    TerminalWindow.frame(lines, size)
  }

  static func frame(_ lines: [String], _ size: Size) -> String {
    // Each line is erased first: erasing after a full line would remove its last character.
    let shown = lines.prefix(size.rows).map { "\u{1B}[2K" + $0.prefix(size.columns) }
    return "\u{1B}[H" + shown.joined(separator: "\r\n")
      + (shown.count < size.rows ? "\r\n\u{1B}[J" : "")
  }

  /// Calls a closure at the key Q, once.
  func endsAtKey(_ end: @escaping @Sendable () -> Void) {
    guard state.withLock({ $0.before != nil }) else { return }
    startThread(named: "pando.keys") {
      var key: UInt8 = 0
      while unsafe read(STDIN_FILENO, &key, 1) == 1 {
        if key == UInt8(ascii: "q") || key == UInt8(ascii: "Q") { return end() }
      }
    }
  }

  private static func write(_ text: String) {
    var bytes = Array(text.utf8)
    // A terminal that is gone needs no output.
    _ = unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
