/// How a parent loses a child: the innermost slot the reference stands in, for all its places in one
/// record.
///
/// A reference in a required slot of a value without identifier is ``required``, also when that value
/// is itself the element of a list: what becomes of the parent is read from the record, not from here.
package struct EdgeKinds: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The value around the child can't be without it.
  package static let required = EdgeKinds(rawValue: 1)
  /// The slot becomes null.
  package static let optional = EdgeKinds(rawValue: 2)
  /// The element is removed from its list.
  package static let element = EdgeKinds(rawValue: 4)
  /// The entry is removed from its map.
  package static let entry = EdgeKinds(rawValue: 8)
}
