/// The tally for a question while entities are added and removed.
///
/// ```
/// groups ─► a tally for each value of the outermost group ─► … ─► count, sum, or values with their numbers
/// ```
/// - Complexity: O(1) to add or remove an entity; O(log *n*) among *n* values for an extreme or a percentile, and
///   among *n* groups that are ordered.
/// - Note: One thread at a time.
package final class RunningTally {
  private let root: any TallyNode

  /// Counts nothing yet.
  ///
  /// - Parameter measure: The measure; its fields are positions in a part of ``AnswerParts``.
  package init(_ measure: NumberedMeasure<some Sendable>) {
    root = measure.makeNode(isRunning: true)
  }

  /// Counts an entity.
  package func add(_ part: [QueryValue]) { root.change(part, isAdded: true) }

  /// Removes an entity that was counted with this part.
  package func remove(_ part: [QueryValue]) { root.change(part, isAdded: false) }

  /// The tally of the present entities.
  ///
  /// - Complexity: O(*g*) for *g* groups of the answer.
  package var tally: Tally { root.tally(isWhole: false) }

  /// The tally of one of the outermost groups; `nil` if it has no entities.
  package func tally(of group: GroupValues) -> Tally? { (root as? GroupsNode)?.tally(of: group) }

  /// Passes each of the outermost groups that has an entity with this part.
  package func forEachGroup(of part: [QueryValue], _ body: (GroupValues) -> Void) {
    (root as? GroupsNode)?.forEachGroup(of: part) { group, _ in body(group) }
  }

  /// Notes the outermost groups that change from now on.
  package func trackGroups() { (root as? GroupsNode)?.changedGroups = [] }

  /// Returns the groups that were noted since the last call, each once.
  package func takeChangedGroups() -> Set<GroupValues> {
    guard let root = root as? GroupsNode, let changed = root.changedGroups else { return [] }
    root.changedGroups = []
    return changed
  }
}
