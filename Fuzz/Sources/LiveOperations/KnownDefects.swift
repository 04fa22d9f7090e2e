/// What the comparison leaves out where a switch is on: known defects, and comparisons that were off while
/// a defect was repaired and have not run long enough without their switch.
///
/// To take one out, set it to `false`, run, and delete it with the places that name it.
enum KnownDefects {
  // Repaired. With these five off a cache still gave "an editor shows …, others nothing" in 3 of about
  // 1 200 runs (seeds 30106 with one task, 40058, 300723).

  /// What a cache answers was shown as it is, also where nodes are live with other content.
  static let cacheAnswersAreNotFitted = true
  /// Over a store a pause that ended while writes were on their way told the list wrongly.
  static let pauseEndsBesideWrites = true
  /// Without a store an update of an element that is gone reported success, and set its model.
  static let updateOfAGoneElementSucceeds = true
  /// Over a cache an edit of a row beside one that was changed with `updateCache: false`, and deleted, was
  /// dropped.
  static let unsavedRowsAreMistaken = true
  /// Followed queries of a type without a disk could be behind an awaited set.
  static let followedMemoryIsBehind = true

  // Open: rows of stored lists that were changed with `updateCache: false`.

  /// A row that `updateCache: false` has removed comes back beside one of the same identifier.
  static let hiddenRowsComeBack = true
  /// A row that is shown only stays where its node is deleted and set again in one group of commits.
  static let groupsKeepUnsavedRows = true
  /// A list that several tasks change shows an element otherwise than the element is, or one that is
  /// gone. (What ended the process, "Duplicate values for key", is repaired.)
  static let unsavedRowsEndTheProcess = true
}
