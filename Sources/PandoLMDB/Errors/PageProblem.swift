import PandoSystem

/// One thing that is wrong with a data file.
///
/// ```swift
/// let report = try PageWalker(path: "people.db").check()
/// for problem in report.problems { print(problem.pageNumber ?? 0, problem.message) }
/// ```
public struct PageProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// What sort of thing is wrong.
  ///
  /// Match on this; the set may grow.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The kind's name, as reports print it.
    public let rawValue: String

    /// Makes a kind with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A meta page is not one, or says what cannot be.
    public static let metaPage = Kind(rawValue: "metaPage")
    /// The file ends before a page that is in use.
    public static let fileSize = Kind(rawValue: "fileSize")
    /// The system could not read a page; the message names its error.
    public static let unreadable = Kind(rawValue: "unreadable")
    /// A page number is out of range, or a page says that it is another page.
    public static let pageNumber = Kind(rawValue: "pageNumber")
    /// A page is of another sort than its position in the tree asks for.
    public static let pageFlags = Kind(rawValue: "pageFlags")
    /// The bounds of a page's free space, or its number of nodes, cannot be.
    public static let pageBounds = Kind(rawValue: "pageBounds")
    /// A node lies outside its page, on an odd offset or over another node, or has unknown flags.
    public static let node = Kind(rawValue: "node")
    /// A key is too short or too long.
    public static let keySize = Kind(rawValue: "keySize")
    /// Keys of a page are not in ascending order.
    public static let keyOrder = Kind(rawValue: "keyOrder")
    /// A key lies outside the range which the branch pages above give.
    public static let keyRange = Kind(rawValue: "keyRange")
    /// A value's overflow pages are not what its node says.
    public static let overflow = Kind(rawValue: "overflow")
    /// A leaf is nearer to the root or further from it than the others.
    public static let depth = Kind(rawValue: "depth")
    /// A tree holds another number of entries or pages than its record says.
    public static let count = Kind(rawValue: "count")
    /// A page is used twice, or used and free.
    public static let sharedPage = Kind(rawValue: "sharedPage")
    /// A record of the free list is not well formed.
    public static let freeList = Kind(rawValue: "freeList")
    /// The record of a table cannot be.
    public static let tableRecord = Kind(rawValue: "tableRecord")
    /// A table allows several values under one key (`MDB_DUPSORT`): nothing is wrong with it, but it
    /// can't be read.
    public static let unsupportedTable = Kind(rawValue: "unsupportedTable")
  }

  /// What sort of thing is wrong.
  public let kind: Kind

  /// The page where it was found, or `nil` if it concerns no page or a whole tree.
  public let pageNumber: UInt64?

  /// The tree it belongs to, as reports print it, or `nil` if it belongs to none.
  public let tree: String?

  /// What is wrong, without the page number and the tree.
  public let message: String

  /// One line: page, tree and what is wrong.
  public var description: String {
    let location = pageNumber.map { "page \($0)" } ?? (tree == nil ? "file" : "")
    let whole = [location, tree.map { location.isEmpty ? $0 : "(\($0))" } ?? ""]
    return whole.filter { !$0.isEmpty }.joined(separator: " ") + ": " + message
  }
}

/// A page walk that could not give its answer.
///
/// ```swift
/// do {
///   try PageWalker(path: "people.db").verify()
/// } catch let error as PageWalkError where error.code == .damaged {
///   print(error.problem?.message ?? "")
/// }
/// ```
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
    /// The file has a table that can't be read; see ``PageWalkError/problem``.
    public static let unsupported = Code(rawValue: "unsupported")
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

  /// What is wrong with the file, for the codes `damaged` and `unsupported`.
  public let problem: PageProblem?

  /// The value of `errno`, or 0 if no system call failed.
  public let systemError: Int32

  init(_ code: Code, path: String, problem: PageProblem? = nil, systemError: Int32 = 0) {
    self.code = code
    self.path = path
    self.problem = problem
    self.systemError = systemError
  }

  /// The error of a file that is not as it should be.
  init(_ problem: PageProblem, path: String) {
    self.init(
      problem.kind == .unsupportedTable ? .unsupported : .damaged, path: path, problem: problem)
  }

  /// One line: the file, what went wrong and what to do.
  public var description: String {
    switch code {
    case .cannotOpen:
      "\(path): cannot be opened: \(PageWalkError.message(ofSystemError: systemError))"
    case .damaged: "\(path): damaged: \(problem?.description ?? "")"
    case .unsupported: "\(path): not supported: \(problem?.description ?? "")"
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
