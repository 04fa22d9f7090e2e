import Pando

/// Which issues are asked for.
struct IssueFilter: Sendable, Equatable {
  var status: Issue.Status?
  var project: Key<Project>?
  var author: Key<User>?
  var assignee: Key<User>?
  var label: Key<Label>?
}

extension IssueFilter {
  /// The issues as a query, the newest first.
  ///
  /// - Parameters:
  ///   - last: The last one of the page before; it need not be there any more.
  ///   - limit: How many at most; `nil` for all.
  /// - Returns: The query.
  func query(after last: Int? = nil, limit: Int? = nil) -> Query<Issue> {
    var all = Filter<Issue>.all
    if let status { all = all && \.status == status }
    if let project { all = all && \.project == project }
    if let author { all = all && .holds(\.author, author) }
    if let assignee { all = all && .holds(\.assignee, assignee) }
    if let label { all = all && .holds(\.labels, label) }
    if let last { all = all && \.id < last }
    return Query(filter: all, order: [.descending(\.id)], limit: limit)
  }
}

/// The questions of the service. Each reads one snapshot, so all parts of one answer fit together.
extension ModelSnapshot {
  /// A page of issues, the newest first.
  func page(
    _ filter: IssueFilter, after last: Int? = nil, limit: Int
  ) throws -> IssuePage {
    let issues = try find(filter.query(after: last, limit: limit)).entities
    return IssuePage(issues: issues, next: issues.count == limit ? issues.last?.id : nil)
  }

  /// How many issues there are.
  func count(_ filter: IssueFilter) throws -> Int { try answer(.count, to: filter.query()) }

  /// How many issues have each status.
  func countsByStatus() throws -> [String: Int] {
    let counts = try answer(.count.grouped(by: \Issue.status), to: .all)
    return Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }

  /// An issue with all that was said about it.
  func thread(_ number: Int) throws -> IssueThread? {
    guard let issue = try self[Issue.key(number)],
      let discussion = try self[Discussion.key(number)],
      let commit = try lastCommit(of: issue.key)
    else { return nil }
    return IssueThread(issue: issue, comments: discussion.comments, commit: commit)
  }

  /// The board.
  func board() throws -> [ColumnContent] {
    try find(Query<Column>.all).entities.map { column in
      ColumnContent(column, try collection(column.cacheKey) ?? [])
    }
  }
}

/// A page of issues.
struct IssuePage: Codable, Sendable {
  let issues: [Issue]
  /// The place behind which the next page begins; `nil` if this is the last one.
  let next: Int?
}

/// An issue with all that was said about it.
struct IssueThread: Codable, Sendable {
  let issue: Issue
  let comments: [Comment]
  /// The last commit that has changed the issue or added a comment; changes of a user in it do not count.
  let commit: CommitNumber
}

/// A column with its cards.
struct ColumnContent: Codable, Sendable, Equatable {
  let id: Int
  let name: String
  let cards: [IssueCard]

  init(_ column: Column, _ cards: [IssueCard]) {
    id = column.id
    name = column.name
    self.cards = cards
  }
}
