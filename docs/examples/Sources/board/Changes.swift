import MicroHTTP
import Pando

/// The changes of the service. Each change is one transaction: all of it is committed, or nothing.
///
/// A model that a request names and the store lacks is an error, which ends the transaction.
extension ModelTransaction {
  /// Adds an issue; it has a discussion from the start.
  mutating func add(_ request: NewIssue, at time: Int) throws -> Int {
    let issue = try Issue(
      id: next(\.issue), title: request.title, priority: request.priority ?? 3, created: time,
      project: required(Project.key(request.project)).key,
      author: required(User.key(request.author)),
      assignee: request.assignee.map { try required(User.key($0)) },
      labels: (request.labels ?? []).map { try required(Label.key($0)) })
    try insert(issue)
    try set(Discussion(id: issue.id))
    return issue.id
  }

  /// Changes an issue as it is by now: what others have changed in it meanwhile stays.
  mutating func change(_ key: Key<Issue>, _ patch: IssuePatch) throws {
    let assignee: User?? = try patch.assignee.map { try $0.map { try required(User.key($0)) } }
    try update(key) { issue in
      if let title = patch.title { issue.title = title }
      if let status = patch.status { issue.status = status }
      if let priority = patch.priority { issue.priority = priority }
      if let assignee { issue.assignee = assignee }
    }
  }

  /// Adds a comment to an issue.
  mutating func comment(on issue: Int, _ request: NewComment, at time: Int) throws {
    let comment = try Comment(
      id: next(\.comment), text: request.text, created: time,
      author: required(User.key(request.author)))
    try update(Discussion.key(issue)) { $0.comments.append(comment) }
  }

  /// Takes a card from wherever it is on the board, if it is, and puts it into a column.
  ///
  /// - Parameters:
  ///   - key: The card.
  ///   - target: The column.
  ///   - index: Its position afterwards; `nil` for the end.
  /// - Throws: ``HTTPError`` if card or column are not there; `StoreError` `indexOutOfRange`.
  mutating func move(
    _ key: Key<IssueCard>, to target: Key<Column>, at index: Int?
  ) throws {
    let column = try required(target).cacheKey
    let card = try required(key)
    if let source = try snapshot.collections(holding: key).first {
      try moveElement(key, fromCollection: source, toCollection: column, at: index)
    } else if let index {
      try insert([card], at: index, inCollection: column)
    } else {
      try append([card], toCollection: column)
    }
  }

  /// Adds a user.
  mutating func add(_ request: NewUser) throws -> User {
    let user = User(id: try next(\.user), name: request.name, email: request.email)
    try insert(user)
    return user
  }

  /// Returns the model that a request names.
  private func required<M: Model & Codable>(_ key: Key<M>) throws -> M {
    guard let model = try snapshot[key] else { throw HTTPError.missing(key) }
    return model
  }

  /// A number that is not in use yet.
  private mutating func next(_ kind: WritableKeyPath<Numbers, Int>) throws -> Int {
    var numbers = try snapshot[Numbers.key] ?? Numbers()
    numbers[keyPath: kind] += 1
    try set(numbers)
    return numbers[keyPath: kind]
  }
}
