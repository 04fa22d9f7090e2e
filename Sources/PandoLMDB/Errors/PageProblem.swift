import PandoSystem

/// A defect of a data file.
///
/// ```swift
/// let report = try PageWalker(path: "people.db").check()
/// for problem in report.problems { print(problem.pageNumber ?? 0, problem.message) }
/// ```
public struct PageProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the defect.
  ///
  /// Match on this; the set may grow.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The kind's name, as in reports.
    public let rawValue: String

    /// Makes a kind with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A meta page is malformed or contradictory.
    public static let metaPage = Kind(rawValue: "metaPage")
    /// The file ends before a page that is in use.
    public static let fileSize = Kind(rawValue: "fileSize")
    /// The system could not read a page; the message names its error.
    public static let unreadable = Kind(rawValue: "unreadable")
    /// A page number is out of range, or a page has another number than its position.
    public static let pageNumber = Kind(rawValue: "pageNumber")
    /// A page has the wrong type for its position in the tree.
    public static let pageFlags = Kind(rawValue: "pageFlags")
    /// The bounds of a page's free space, or its number of nodes, are impossible.
    public static let pageBounds = Kind(rawValue: "pageBounds")
    /// A node lies outside its page, on an odd offset or over another node, or has unknown flags.
    public static let node = Kind(rawValue: "node")
    /// A key is too short or too long.
    public static let keySize = Kind(rawValue: "keySize")
    /// Keys of a page are not in ascending order.
    public static let keyOrder = Kind(rawValue: "keyOrder")
    /// A key lies outside the range that the branch pages above give.
    public static let keyRange = Kind(rawValue: "keyRange")
    /// The overflow pages of a value do not match its node.
    public static let overflow = Kind(rawValue: "overflow")
    /// A leaf is nearer to the root, or further from it, than the others.
    public static let depth = Kind(rawValue: "depth")
    /// A tree has another number of entries or pages than its record states.
    public static let count = Kind(rawValue: "count")
    /// A page is used twice, or used and free.
    public static let sharedPage = Kind(rawValue: "sharedPage")
    /// A record of the free list is malformed.
    public static let freeList = Kind(rawValue: "freeList")
    /// The record of a table is impossible.
    public static let tableRecord = Kind(rawValue: "tableRecord")
    /// A table allows several values under one key (`MDB_DUPSORT`): it is sound, but Pando can't
    /// read it.
    public static let unsupportedTable = Kind(rawValue: "unsupportedTable")
  }

  /// The kind of the defect.
  public let kind: Kind

  /// The defective page; `nil` if the defect has no page or concerns a whole tree.
  public let pageNumber: UInt64?

  /// The tree of the page, as in reports; `nil` if it has none.
  public let tree: String?

  /// The defect in words, without the page number and the tree.
  public let message: String

  /// One line: page, tree and defect.
  public var description: String {
    let location = pageNumber.map { "page \($0)" } ?? (tree == nil ? "file" : "")
    let whole = [location, tree.map { location.isEmpty ? $0 : "(\($0))" } ?? ""]
    return whole.filter { !$0.isEmpty }.joined(separator: " ") + ": " + message
  }
}

/// A page walk that could not complete.
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
    /// The code's name, as in messages.
    public let rawValue: String

    /// Makes a code with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The data file does not exist or can't be opened; see ``PageWalkError/systemError``.
    public static let cannotOpen = Code(rawValue: "cannotOpen")
    /// The file is damaged; see ``PageWalkError/problem``.
    public static let damaged = Code(rawValue: "damaged")
    /// The file has a table that Pando can't read; see ``PageWalkError/problem``.
    public static let unsupported = Code(rawValue: "unsupported")
    /// Other commits reused pages of the version during the walk.
    ///
    /// Hold a read transaction and walk its version, or retry when there are fewer writes.
    public static let changedMeanwhile = Code(rawValue: "changedMeanwhile")
    /// The file has no table of that name.
    public static let noSuchTable = Code(rawValue: "noSuchTable")
  }

  /// The kind of failure.
  public let code: Code

  /// The data file.
  public let path: String

  /// The defect, for the codes `damaged` and `unsupported`.
  public let problem: PageProblem?

  /// The value of `errno`, or 0 if no system call failed.
  public let systemError: Int32

  init(_ code: Code, path: String, problem: PageProblem? = nil, systemError: Int32 = 0) {
    self.code = code
    self.path = path
    self.problem = problem
    self.systemError = systemError
  }

  /// The error of a defective file.
  init(_ problem: PageProblem, path: String) {
    self.init(
      problem.kind == .unsupportedTable ? .unsupported : .damaged, path: path, problem: problem)
  }

  /// One line: the file, the failure and the remedy.
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
    // The text is copied at once; on Linux known numbers have constant texts, safe on any thread.
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
