/// What is known to go wrong and is repaired elsewhere: where a switch is on, the comparison leaves it out.
///
/// To take one out, set it to `false`, run, and delete it with the places that name it.
enum KnownDefects {
  /// What a cache answers is shown as it is, also where nodes are live with other content.
  static let cacheAnswersAreNotFitted = true
  /// Over a store a pause that ends while writes are on their way tells the list wrongly.
  static let pauseEndsBesideWrites = true
  /// Without a store an update of an element that is gone reports success, and sets its model.
  static let updateOfAGoneElementSucceeds = true
  /// A row that `updateCache: false` has removed comes back beside one of the same identifier.
  static let hiddenRowsComeBack = true
  /// A row that is shown only stays where its node is deleted and set again in one group of commits.
  static let groupsKeepUnsavedRows = true
  /// Rows of stored lists that were changed with `updateCache: false` are shown twice after a group of
  /// commits, and end the process then: "Duplicate values for key" in `LiveList.updatedRows(since:)`.
  static let unsavedRowsEndTheProcess = true
  /// Over a cache an edit of a row beside one that was changed with `updateCache: false`, and deleted, is
  /// dropped.
  static let unsavedRowsAreMistaken = true
  /// Followed queries of a type without a disk may be behind an awaited set.
  static let followedMemoryIsBehind = true
}
