import Pando

/// Somebody who reports issues, works on them and comments on them.
struct User: PersistentEntity {
  typealias RemoteID = Int
  let id: EntityIdentifier<User>
  var name: String
  var email: String

  static let fields: [Field<User>] = [.field(\.name), .field(\.email)]
  static let indexes: [FieldIndex<User>] = [.unique(\.email)]
}

/// What an issue is about.
struct Label: PersistentEntity {
  typealias RemoteID = Int
  let id: EntityIdentifier<Label>
  var name: String
}

/// What an issue belongs to.
struct Project: PersistentEntity {
  typealias RemoteID = Int
  let id: EntityIdentifier<Project>
  var name: String
}

/// Something to be done, without what was said about it.
///
/// Identifiers are given in the order in which issues are made, so the highest one is the newest.
struct Issue: PersistentEntity, DeletionRuled {
  typealias RemoteID = Int

  enum Status: String, Codable, CaseIterable, QueryRepresentable { case open, waiting, closed }

  let id: EntityIdentifier<Issue>
  var title: String
  var status: Status
  /// From 1, the most urgent, to 4.
  var priority: Int
  /// Seconds since 1970.
  let created: Int
  let project: EntityIdentifier<Project>
  let author: User
  var assignee: User?
  var labels: [Label]

  init(
    _ number: Int, _ title: String, _ status: Status = .open, priority: Int = 3, created: Int,
    project: EntityIdentifier<Project>, author: User, assignee: User? = nil, labels: [Label] = []
  ) {
    id = .remote(number)
    self.title = title
    self.status = status
    self.priority = priority
    self.created = created
    self.project = project
    self.author = author
    self.assignee = assignee
    self.labels = labels
  }

  static let fields: [Field<Issue>] = [
    .indexed(\.id), .field(\.status), .field(\.project), .field(.child(\.author)),
    .field(.child(\.assignee)), .field(.each(\.labels)),
  ]

  /// One for each question: what it asks for by value, then the order of its pages.
  static let indexes: [FieldIndex<Issue>] = [
    .indexed(\.status, \.id), .indexed(\.project, \.status, \.id),
    .indexed(.child(\.author), .field(\.status), .field(\.id)),
    .indexed(.child(\.assignee), .field(\.status), .field(\.id)),
    .indexed(.each(\.labels), .field(\.status), .field(\.id)),
  ]

  /// Who has made an issue, or is to do it, can't be deleted.
  static let deletionRules: [DeletionRule] = [.restrict("author"), .restrict("assignee")]
}

/// An issue as the board shows it: the same node with fewer fields.
struct IssueCard: PersistentEntity {
  static let identifierNamespace = Issue.identifierNamespace
  typealias RemoteID = Int
  let id: EntityIdentifier<IssueCard>
  var title: String
  var status: Issue.Status
  var assignee: User?
}

/// What was said about an issue: the same node once more.
///
/// Lists of issues need none of it, so it is a record of its own. The comments go with their issue.
struct Discussion: Model, Codable, Equatable, DeletionRuled {
  let id: EntityIdentifier<Issue>
  var comments: [Comment] = []

  var modelIdentifier: String? { id.modelIdentifier }
  static let deletionRules: [DeletionRule] = [.owned("comments")]
}

/// What somebody has said.
struct Comment: PersistentEntity, DeletionRuled {
  typealias RemoteID = Int
  let id: EntityIdentifier<Comment>
  var text: String
  let created: Int
  let author: User

  static let deletionRules: [DeletionRule] = [.restrict("author")]
}

/// A column of the board; its cards are an ordered list under a key.
struct Column: PersistentEntity {
  typealias RemoteID = Int
  let id: EntityIdentifier<Column>
  var name: String

  /// The key of the list of cards.
  var cacheKey: String { id.modelIdentifier }
}

/// The last number of each kind that was given to somebody.
struct Numbers: Model, Codable, Equatable {
  var issue = 0
  var comment = 0
  var user = 0

  static let identifier = "Numbers"
  var modelIdentifier: String? { Self.identifier }
}
