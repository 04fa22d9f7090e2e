/// A failed operation of a store.
///
/// ```swift
/// do {
///   try store.write { _ = try $0.delete("Person:7") }
/// } catch let error as StoreError where error.code == .restricted {
///   print(error)  // Person:7: can't be deleted: Issue:1 holds it as author; …
/// }
/// ```
///
/// The description is one line for a person: what failed, where, why, and what to do about it.
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

    /// The file is no Pando store.
    public static var notAStore: Code { Code(rawValue: "notAStore") }
    /// The store was written in a format that this version does not know.
    public static var unknownFormat: Code { Code(rawValue: "unknownFormat") }
    /// The store was opened for reading only.
    public static var readOnly: Code { Code(rawValue: "readOnly") }
    /// Writes of the store go through a log that it was opened without, or that can't carry this one.
    public static var replicated: Code { Code(rawValue: "replicated") }
    /// Others have changed what a write of a replicated store was made from, again and again.
    public static var conflict: Code { Code(rawValue: "conflict") }
    /// A write is larger than an entry of the log of a replicated store can be.
    public static var entryTooLarge: Code { Code(rawValue: "entryTooLarge") }
    /// The log of a replicated store can't be reached, or does not say what became of a write.
    public static var unavailable: Code { Code(rawValue: "unavailable") }
    /// As many writes wait for the log of a replicated store as may.
    public static var busy: Code { Code(rawValue: "busy") }
    /// The log of a replicated store is not the one that the store has followed.
    public static var logLost: Code { Code(rawValue: "logLost") }
    /// The log of a replicated store has another message at a position than the store has taken in there.
    public static var forked: Code { Code(rawValue: "forked") }
    /// The log of a replicated store has an entry of a newer version.
    public static var needsUpgrade: Code { Code(rawValue: "needsUpgrade") }
    /// The store has been closed.
    public static var closed: Code { Code(rawValue: "closed") }
    /// The change log no longer reaches back to the commit that was asked for.
    public static var changesExpired: Code { Code(rawValue: "changesExpired") }
    /// A position lies outside the collection.
    public static var indexOutOfRange: Code { Code(rawValue: "indexOutOfRange") }
    /// A collection that the operation needs is not there.
    public static var noSuchCollection: Code { Code(rawValue: "noSuchCollection") }
    /// A cursor that the operation needs is not there.
    public static var noSuchCursor: Code { Code(rawValue: "noSuchCursor") }
    /// A node that the operation needs is not there.
    public static var noSuchNode: Code { Code(rawValue: "noSuchNode") }
    /// A node can't be deleted, because a deletion rule of what holds it says so.
    public static var restricted: Code { Code(rawValue: "restricted") }
    /// A node was changed after the commit at which the caller has read it.
    public static var changedMeanwhile: Code { Code(rawValue: "changedMeanwhile") }
    /// The change would make a node its own ancestor.
    public static var cyclicModel: Code { Code(rawValue: "cyclicModel") }
    /// An identifier or a key is empty.
    public static var emptyIdentifier: Code { Code(rawValue: "emptyIdentifier") }
    /// Two Swift types claim the same type name.
    public static var typeCollision: Code { Code(rawValue: "typeCollision") }
    /// A model can't be stored or read; `underlying` says why.
    public static var invalidModel: Code { Code(rawValue: "invalidModel") }
    /// An index can't be made as it was asked for.
    public static var invalidIndex: Code { Code(rawValue: "invalidIndex") }
    /// A write would give two records a value that a unique index allows once; `subject` is the record
    /// that was to get it, and the reason names type, field, value and the record that has it.
    public static var valueTaken: Code { Code(rawValue: "valueTaken") }
    /// Bytes on disk contradict each other; run `verify`.
    public static var damaged: Code { Code(rawValue: "damaged") }
    /// A migration threw; `underlying` is its error and the store is as it was.
    public static var migrationFailed: Code { Code(rawValue: "migrationFailed") }
    /// A newer program has written the type: this one would drop the fields that it does not have.
    public static var newerSchema: Code { Code(rawValue: "newerSchema") }
    /// A line of a dump can't be loaded.
    public static var invalidDump: Code { Code(rawValue: "invalidDump") }
    /// The store was moved, removed, replaced or written over while it was open: nothing is written to it any more.
    ///
    /// Reads go on with what was open. Close the store, and open it where it is; or put its folder back, unless its
    /// file was written over.
    public static var storeMoved: Code { Code(rawValue: "storeMoved") }
    /// The engine beneath failed; `underlying` is its error.
    public static var engine: Code { Code(rawValue: "engine") }
  }

  /// The kind of failure.
  public let code: Code
  /// What it is about: an identifier, a cache key, a type name or a path.
  public let subject: String
  /// Why it failed and what to do, as half a sentence without a full stop.
  public let reason: String
  /// The error of the layer below, if one was the cause.
  public let underlying: (any Error)?
  /// The name of a write that the log may have although it gave no answer; `nil` for any other error.
  ///
  /// Keep it: `ReplicatedStore.outcome(ofWrite:)` says later what became of the write.
  public package(set) var writeName: String?

  package init(
    _ code: Code, _ subject: String, _ reason: String, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.underlying = underlying
  }

  /// One line: what it is about and why it failed.
  public var description: String {
    let name = writeName.map { "; the write's name is \($0)" } ?? ""
    let cause = underlying.map { ": \($0)" } ?? ""
    return subject.isEmpty ? "\(reason)\(name)\(cause)" : "\(subject): \(reason)\(name)\(cause)"
  }
}

extension StoreError {
  /// Damage that a check of the bytes found.
  static func damaged(_ subject: String, _ reason: String) -> StoreError {
    StoreError(.damaged, subject, "\(reason); the store is damaged, run verify")
  }

  static func noSuchCursor(_ name: String) -> StoreError {
    StoreError(
      .noSuchCursor, "cursor \(name)", "there is none of that name; make it with cursor(named:)")
  }
}
