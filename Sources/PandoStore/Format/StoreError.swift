/// A failed operation of a store.
///
/// ```swift
/// do {
///   try store.write { _ = try $0.deleteIfPresent("Person:7") }
/// } catch let error as StoreError where error.code == .restricted {
///   print(error)  // Person:7: can't be deleted: Issue:1 holds it as author; …
/// }
/// ```
///
/// The description is one line for people: what failed, where, why, and a remedy.
public struct StoreError: Error, CustomStringConvertible {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the code.
    public let rawValue: String

    /// Makes a code from its name.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file is not a Pando store.
    public static var notAStore: Code { Code(rawValue: "notAStore") }
    /// The store has a format that this version does not support.
    public static var unknownFormat: Code { Code(rawValue: "unknownFormat") }
    /// The store was opened read-only.
    public static var readOnly: Code { Code(rawValue: "readOnly") }
    /// The store is replicated, but was opened without its log, or the log can't carry this write.
    public static var replicated: Code { Code(rawValue: "replicated") }
    /// Other machines repeatedly changed what a write of a replicated store was based on.
    public static var conflict: Code { Code(rawValue: "conflict") }
    /// A write exceeds the size of an entry in the log of a replicated store.
    public static var entryTooLarge: Code { Code(rawValue: "entryTooLarge") }
    /// The log of a replicated store is unreachable, or does not report the outcome of a write.
    public static var unavailable: Code { Code(rawValue: "unavailable") }
    /// Too many writes already wait for the log of a replicated store.
    public static var busy: Code { Code(rawValue: "busy") }
    /// The log of a replicated store is not the one that the store followed.
    public static var logLost: Code { Code(rawValue: "logLost") }
    /// The log of a replicated store has another message at a position than the store received.
    public static var forked: Code { Code(rawValue: "forked") }
    /// The log of a replicated store has an entry of a newer version.
    public static var needsUpgrade: Code { Code(rawValue: "needsUpgrade") }
    /// The store has been closed.
    public static var closed: Code { Code(rawValue: "closed") }
    /// The change log no longer reaches back to the requested commit.
    public static var changesExpired: Code { Code(rawValue: "changesExpired") }
    /// A position lies outside the collection.
    public static var indexOutOfRange: Code { Code(rawValue: "indexOutOfRange") }
    /// A required collection does not exist.
    public static var noSuchCollection: Code { Code(rawValue: "noSuchCollection") }
    /// A required cursor does not exist.
    public static var noSuchCursor: Code { Code(rawValue: "noSuchCursor") }
    /// A required node does not exist.
    public static var noSuchNode: Code { Code(rawValue: "noSuchNode") }
    /// A node that was to be inserted exists.
    public static var alreadyExists: Code { Code(rawValue: "alreadyExists") }
    /// The deletion rule of a parent forbids the deletion of a node.
    public static var restricted: Code { Code(rawValue: "restricted") }
    /// A node was changed after the commit at which the caller read it.
    public static var changedMeanwhile: Code { Code(rawValue: "changedMeanwhile") }
    /// The change would make a node its own ancestor.
    public static var cyclicModel: Code { Code(rawValue: "cyclicModel") }
    /// An identifier or a key is empty.
    public static var emptyIdentifier: Code { Code(rawValue: "emptyIdentifier") }
    /// Two Swift types have the same type name.
    public static var typeCollision: Code { Code(rawValue: "typeCollision") }
    /// A model can't be stored or read; `underlying` is the cause.
    public static var invalidModel: Code { Code(rawValue: "invalidModel") }
    /// An index can't be created as requested.
    public static var invalidIndex: Code { Code(rawValue: "invalidIndex") }
    /// A write would give two records one value of a unique index; `subject` is the refused record,
    /// and the reason names type, field, value and the other record.
    public static var valueTaken: Code { Code(rawValue: "valueTaken") }
    /// Bytes on disk contradict each other; run `verify`.
    public static var damaged: Code { Code(rawValue: "damaged") }
    /// A migration threw; `underlying` is its error, and the store is unchanged.
    public static var migrationFailed: Code { Code(rawValue: "migrationFailed") }
    /// A newer program has written the type: this one would drop fields that it does not have.
    public static var newerSchema: Code { Code(rawValue: "newerSchema") }
    /// A line of a dump can't be loaded.
    public static var invalidDump: Code { Code(rawValue: "invalidDump") }
    /// The open store was moved, removed, replaced or overwritten: writes are refused.
    ///
    /// Reads continue with the open file. Close the store and open it at its new place, or put its
    /// folder back, unless its file was overwritten.
    public static var storeMoved: Code { Code(rawValue: "storeMoved") }
    /// The key-value engine failed; `underlying` is its error.
    public static var engine: Code { Code(rawValue: "engine") }
  }

  /// The kind of failure.
  public let code: Code
  /// The subject: an identifier, a cache key, a type name or a path.
  public let subject: String
  /// The reason and the remedy, as half a sentence without a full stop.
  public let reason: String
  /// The error of the layer below, if one was the cause.
  public let underlying: (any Error)?
  /// The name of a write that may be in the log although no answer came; `nil` for other errors.
  ///
  /// Keep it: `ReplicatedStore.outcome(ofWrite:)` later returns the outcome of the write.
  public package(set) var writeName: String?

  package init(
    _ code: Code, _ subject: String, _ reason: String, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.underlying = underlying
  }

  /// One line: the subject and the reason.
  public var description: String {
    let name = writeName.map { "; the write's name is \($0)" } ?? ""
    let cause = underlying.map { ": \($0)" } ?? ""
    return subject.isEmpty ? "\(reason)\(name)\(cause)" : "\(subject): \(reason)\(name)\(cause)"
  }
}

extension StoreError {
  /// Damage found by a check of the bytes.
  static func damaged(_ subject: String, _ reason: String) -> StoreError {
    StoreError(.damaged, subject, "\(reason); the store is damaged, run verify")
  }

  package static func noSuchNode(_ identifier: String) -> StoreError {
    StoreError(.noSuchNode, identifier, "the store has no such node; nothing was changed")
  }

  static func noSuchCursor(_ name: String) -> StoreError {
    StoreError(
      .noSuchCursor, "cursor \(name)", "there is none of that name; make it with cursor(named:)")
  }
}
