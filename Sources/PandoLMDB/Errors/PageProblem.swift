import PandoSystem

/// A defect of a data file.
///
/// ```swift
/// let report = try PageWalker(path: "people.db").check()
/// for problem in report.problems { print(problem.pageNumber ?? 0, problem.message) }
/// ```
package struct PageProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the defect.
  ///
  /// Match on this; the set may grow.
  package struct Kind: RawRepresentable, Hashable, Sendable {
    /// The kind's name, as in reports.
    package let rawValue: String

    /// Makes a kind with a name.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// A meta page is malformed or contradictory.
    package static let metaPage = Kind(rawValue: "metaPage")
    /// The file ends before a page that is in use.
    package static let fileSize = Kind(rawValue: "fileSize")
    /// The system could not read a page; the message names its error.
    package static let unreadable = Kind(rawValue: "unreadable")
    /// A page number is out of range, or a page has another number than its position.
    package static let pageNumber = Kind(rawValue: "pageNumber")
    /// A page has the wrong type for its position in the tree.
    package static let pageFlags = Kind(rawValue: "pageFlags")
    /// The bounds of a page's free space, or its number of nodes, are impossible.
    package static let pageBounds = Kind(rawValue: "pageBounds")
    /// A node lies outside its page, on an odd offset or over another node, or has unknown flags.
    package static let node = Kind(rawValue: "node")
    /// A key is too short or too long.
    package static let keySize = Kind(rawValue: "keySize")
    /// Keys of a page are not in ascending order.
    package static let keyOrder = Kind(rawValue: "keyOrder")
    /// A key lies outside the range that the branch pages above give.
    package static let keyRange = Kind(rawValue: "keyRange")
    /// The overflow pages of a value do not match its node.
    package static let overflow = Kind(rawValue: "overflow")
    /// A leaf is nearer to the root, or further from it, than the others.
    package static let depth = Kind(rawValue: "depth")
    /// A tree has another number of entries or pages than its record states.
    package static let count = Kind(rawValue: "count")
    /// A page is used twice, or used and free.
    package static let sharedPage = Kind(rawValue: "sharedPage")
    /// A record of the free list is malformed.
    package static let freeList = Kind(rawValue: "freeList")
    /// The record of a table is impossible.
    package static let tableRecord = Kind(rawValue: "tableRecord")
    /// A table allows several values under one key (`MDB_DUPSORT`): it is sound, but Pando can't
    /// read it.
    package static let unsupportedTable = Kind(rawValue: "unsupportedTable")
  }

  /// The kind of the defect.
  package let kind: Kind

  /// The defective page; `nil` if the defect has no page or concerns a whole tree.
  package let pageNumber: UInt64?

  /// The tree of the page, as in reports; `nil` if it has none.
  package let tree: String?

  /// The defect in words, without the page number and the tree.
  package let message: String

  /// One line: page, tree and defect.
  package var description: String {
    let location = pageNumber.map { "page \($0)" } ?? (tree == nil ? "file" : "")
    let whole = [location, tree.map { location.isEmpty ? $0 : "(\($0))" } ?? ""]
    return whole.filter { !$0.isEmpty }.joined(separator: " ") + ": " + message
  }
}

extension LMDBError {
  /// The error of a defective file.
  init(_ problem: PageProblem, path: String) {
    self.init(
      problem.kind == .unsupportedTable ? .incompatibleTable : .corrupted, function: "verify",
      detail: "\(path): \(problem)")
  }

  /// The error of a file that could not be opened for reading.
  static func cannotOpen(_ path: String, _ number: Int32 = errno) -> LMDBError {
    .failed(number, "open", path)
  }

  /// The error of a walk whose pages other commits reused.
  static func changedMeanwhile(_ path: String) -> LMDBError {
    LMDBError(.changedMeanwhile, function: "verify", detail: path)
  }
}
