/// An element that leaves its place in a list and comes in at another.
struct ListMover {
  /// Where it was in the old list.
  let old: Int
  /// Where it is in the new list.
  let new: Int
  /// How many elements before its old place keep theirs.
  let keptBeforeOld: Int
}
