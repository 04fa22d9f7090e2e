import PandoSystem

/// A page walk that could not give its answer.
public struct PageWalkError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's name, as messages print it.
    public let rawValue: String

    /// Makes a code with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The data file is not there or may not be opened; see ``PageWalkError/systemError``.
    public static let cannotOpen = Code(rawValue: "cannotOpen")
    /// The file is damaged; see ``PageWalkError/problem``.
    public static let damaged = Code(rawValue: "damaged")
    /// Commits by others reused the pages of the version that was walked.
    ///
    /// Hold a read transaction and walk its version, or try again when there are fewer writes.
    public static let changedMeanwhile = Code(rawValue: "changedMeanwhile")
    /// There is no table of that name.
    public static let noSuchTable = Code(rawValue: "noSuchTable")
  }

  /// The kind of failure.
  public let code: Code

  /// The data file.
  public let path: String

  /// What is wrong with the file, for the code `damaged`.
  public let problem: PageProblem?

  /// The value of `errno`, or 0 if no system call failed.
  public let systemError: Int32

  init(_ code: Code, path: String, problem: PageProblem? = nil, systemError: Int32 = 0) {
    self.code = code
    self.path = path
    self.problem = problem
    self.systemError = systemError
  }

  /// One line: the file, what went wrong and what to do.
  public var description: String {
    switch code {
    case .cannotOpen:
      "\(path): cannot be opened: \(PageWalkError.message(ofSystemError: systemError))"
    case .damaged: "\(path): damaged: \(problem?.description ?? "")"
    case .changedMeanwhile:
      "\(path): other commits reused pages while they were read; "
        + "hold a read transaction and walk its version, or try again"
    case .noSuchTable: "\(path): there is no table of that name"
    default: "\(path): \(code.rawValue)"
    }
  }

  /// The system's text for an error number.
  static func message(ofSystemError number: Int32) -> String {
    // The text is copied at once; on Linux known numbers give constant texts, safe on any thread.
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
