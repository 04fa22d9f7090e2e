/// A mistake that is made on purpose in what is compared, to show that the check finds it.
///
/// The first ones are of one evaluation; those after `stale…` are of an implementation that keeps what it had.
enum Mistake: String, CaseIterable, Sendable {
  // Conditions
  case nullIsZero, endOfRange, lastOfSeveralValues, prefixWithoutCase, containsByBytes
  case lastElement, holdersOfLists, secondOfBoth, secondOfEither, notOfNull
  case phraseInAnyOrder, beginningOfWord, oneRemark, unansweredRemark, remarkNamesTwice
  // Orders and windows
  case naturalOrder, orderOfTies, foldedByBytes, secondOrder, nullIsLast, limit, offset, uniqueness
  // Questions
  case having, orderOfEqualGroups, exists, equalValuesOnce, averageOfNull, rank, distinct
  case roundedSum, partsOfOthers
  // Changes that a follower misses
  case staleMinimum, staleMaximum, staleDistinct, staleGroups, staleCount, staleSum
  case staleAverage, stalePercentile, staleSeveral, staleGroupKey, staleOrder, staleWindow
  case missedChild, missedDelete, missedInsert, missedUpdate, missedChildDelete, missedListEdit
  case lastOfManyChanges, missedUndo, missedRemark
  /// A commit of another process, or of another store of a log.
  case missedOthers
  // Keys, pages, changes of a result, children of a node
  case keysKeepPlaces, pagesSkipTies, changesWithoutMoves, heldByLists
}
