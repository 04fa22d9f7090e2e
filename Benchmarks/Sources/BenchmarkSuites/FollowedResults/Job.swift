import Pando

/// An entity that is found by two fields, of which one tells hardly anything.
@Model struct Job: PersistentEntity {
  /// How far it has come.
  @Embedded enum State: String {
    case open
    case done
  }

  typealias RemoteID = Int
  var id: EntityIdentifier<Job>
  var title: String
  var assignee: Int
  var state: State
  var effort: Int

  /// How many jobs each assignee has; half of them are open.
  static let countPerAssignee = 4

  /// The open jobs of an assignee, by a filter that begins with the assignee.
  @Sendable static func assigneeThenState(_ assignee: Int) -> Filter<Job> {
    \Job.assignee == assignee && \Job.state == .open
  }

  /// The same by a filter that begins with the state.
  @Sendable static func stateThenAssignee(_ assignee: Int) -> Filter<Job> {
    \Job.state == .open && \Job.assignee == assignee
  }

  /// The jobs of so many people, in which the first job of each is open.
  static func make(assigneeCount: Int) -> [Job] {
    (0..<assigneeCount * countPerAssignee).map { number in
      Job(
        id: .remote(number), title: "Job number \(number)", assignee: number / countPerAssignee,
        state: number % 2 == 0 ? .open : .done, effort: 0)
    }
  }
}
