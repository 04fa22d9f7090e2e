import MicroHTTP
import Pando

/// What the service changes. Each change is one transaction: all of it is committed, or nothing.
///
/// What a request names and the store lacks is an ``HTTPError``, which ends the transaction.
extension ModelTransaction {
  /// Adds an issue; it has a discussion from the start.
  mutating func add(_ request: NewIssue, at time: Int) throws -> EntityIdentifier<Issue> {
    let issue = try Issue(
      next(\.issue), request.title, priority: request.priority ?? 3, created: time,
      project: required(EntityIdentifier<Project>.remote(request.project)).id,
      author: required(.remote(request.author)),
      assignee: request.assignee.map { try required(.remote($0)) },
      labels: (request.labels ?? []).map { try required(.remote($0)) })
    try set(issue)
    try set(Discussion(id: issue.id))
    return issue.id
  }

  /// Changes an issue as it is by now: what others have changed in it meanwhile stays.
  mutating func change(_ id: EntityIdentifier<Issue>, _ patch: IssuePatch) throws {
    let assignee: User?? = try patch.assignee.map { try $0.map { try required(.remote($0)) } }
    let changed = try update(Issue.self, id.modelIdentifier) { issue in
      if let title = patch.title { issue.title = title }
      if let status = patch.status { issue.status = status }
      if let priority = patch.priority { issue.priority = priority }
      if let assignee { issue.assignee = assignee }
    }
    if changed == nil { throw HTTPError.missing(id) }
  }

  /// Adds a comment to an issue.
  mutating func comment(on id: EntityIdentifier<Issue>, _ request: NewComment, at time: Int) throws
  {
    let comment = try Comment(
      id: .remote(next(\.comment)), text: request.text, created: time,
      author: required(.remote(request.author)))
    let discussion = try update(Discussion.self, id.modelIdentifier) {
      $0.comments.append(comment)
    }
    if discussion == nil { throw HTTPError.missing(id) }
  }

  /// Takes a card from wherever it is on the board, if it is, and puts it into a column.
  ///
  /// - Parameters:
  ///   - id: The card.
  ///   - target: The column.
  ///   - index: Its position afterwards; `nil` for the end.
  /// - Throws: ``HTTPError`` if card or column are not there; `StoreError` `indexOutOfRange`.
  mutating func move(
    _ id: EntityIdentifier<IssueCard>, to target: EntityIdentifier<Column>, at index: Int?
  ) throws {
    let key = try required(target).cacheKey
    let card = try required(id)
    if let source = try snapshot.collections(holding: id.modelIdentifier).first {
      try moveElement(id.modelIdentifier, fromCollection: source, toCollection: key, at: index)
    } else if let index {
      try insert([card], at: index, inCollection: key)
    } else {
      try append([card], toCollection: key)
    }
  }

  /// Adds a user.
  mutating func add(_ request: NewUser) throws -> User {
    let user = User(id: .remote(try next(\.user)), name: request.name, email: request.email)
    try set(user)
    return user
  }

  /// What a request names.
  private func required<E: Entity>(_ id: EntityIdentifier<E>) throws -> E {
    guard let entity = try snapshot.get(id.modelIdentifier, as: E.self) else {
      throw HTTPError.missing(id)
    }
    return entity
  }

  /// A number that nobody has yet.
  private mutating func next(_ kind: WritableKeyPath<Numbers, Int>) throws -> Int {
    var numbers = try snapshot.get(Numbers.identifier, as: Numbers.self) ?? Numbers()
    numbers[keyPath: kind] += 1
    try set(numbers)
    return numbers[keyPath: kind]
  }
}
