import CPeerSQLite
import Pando

/// Issues in a Pando store.
final class PandoIssues: Sendable {
  private let models: PandoModels

  init(_ directory: WorkingDirectory) throws {
    models = try PandoModels(directory, .unsynchronized)
  }

  /// Stores the issues with their indexes.
  func fill(_ tracker: IssueTracker) throws {
    try models.store.addIndexes(of: [Issue.self])
    try models.put(tracker.issues)
  }

  /// Asks, in a read transaction each.
  func ask(_ queries: [IssueQuery], _ latencies: Latencies) throws -> UInt64 {
    var checksum = IssueChecksum()
    for query in queries {
      try latencies.time {
        try models.store.read { snapshot in
          switch query {
          case .newest(let status, let author):
            let found = try snapshot.find(
              Query(
                filter: \Issue.status == status && \.author == author,
                order: [.descending(\.created)], limit: IssueQuery.limit))
            for issue in found.entities { checksum.add(issue) }
          case .countOfLabel(let label):
            checksum.add(
              try snapshot.answer(.count, to: Query(filter: \Issue.label == label)))
          case .countOfBoth(let label, let milestone):
            let both = Query<Issue>(filter: \.label == label && \.milestone == milestone)
            checksum.add(try snapshot.answer(.count, to: both))
          }
        }
      }
    }
    return checksum.value
  }
}

/// Issues in an SQLite database; the answers become the same Swift structs.
final class SQLiteIssues {
  private let issues: OpaquePointer

  init(_ directory: WorkingDirectory) throws {
    var issues: OpaquePointer?
    try SQLiteModels.check(
      sqlite_issues_open(directory.path, Durability.unsynchronized.peer(of: .sqlite), &issues))
    guard let issues else { preconditionFailure("a database that was opened is not nil") }
    self.issues = issues
  }

  deinit { sqlite_issues_close(issues) }

  func fill(_ tracker: IssueTracker) throws {
    let arena = TextArena()
    let rows = tracker.issues.map { issue in
      peer_issue(
        identifier: arena.text(issue.id.text), title: arena.text(issue.title),
        author: arena.text(issue.author), status: Int64(issue.status),
        created: Int64(issue.created), label: Int64(issue.label),
        milestone: Int64(issue.milestone))
    }
    try SQLiteModels.check(sqlite_issues_fill(issues, rows, rows.count))
    withExtendedLifetime(arena) {}
  }

  /// Asks; without BEGIN a statement is a transaction.
  func ask(_ queries: [IssueQuery], _ latencies: Latencies) throws -> UInt64 {
    let arena = TextArena()
    var checksum = IssueChecksum()
    for query in queries {
      try latencies.time {
        switch query {
        case .newest(let status, let author):
          for issue in try newest(status, arena.text(author)) { checksum.add(issue) }
        case .countOfLabel(let label): checksum.add(try count(label, -1))
        case .countOfBoth(let label, let milestone): checksum.add(try count(label, milestone))
        }
      }
    }
    return checksum.value
  }

  private func count(_ label: Int, _ milestone: Int) throws -> Int {
    var count: Int64 = 0
    try SQLiteModels.check(sqlite_issues_count(issues, Int64(label), Int64(milestone), &count))
    return Int(count)
  }

  private func newest(_ status: Int, _ author: peer_text) throws -> [Issue] {
    try SQLiteModels.check(
      sqlite_issues_begin(issues, Int64(status), author, Int64(IssueQuery.limit)))
    defer { sqlite_issues_done(issues) }
    var found: [Issue] = []
    var row = peer_issue()
    var isThere: CInt = 0
    while true {
      try SQLiteModels.check(sqlite_issues_next(issues, &row, &isThere))
      guard isThere != 0 else { return found }
      found.append(
        Issue(
          id: .remote(row.identifier.string), title: row.title.string,
          author: row.author.string, status: Int(row.status), created: Int(row.created),
          label: Int(row.label), milestone: Int(row.milestone)))
    }
  }
}

/// A checksum of answers, to compare systems by.
struct IssueChecksum {
  private var fingerprint = Fingerprint()
  private var sum: UInt64 = 0

  mutating func add(_ issue: Issue) {
    fingerprint.add(issue.id.text.utf8)
    sum &+= UInt64(issue.title.utf8.count + issue.author.utf8.count + issue.status)
    sum &+= UInt64(issue.created + issue.label + issue.milestone)
  }

  mutating func add(_ count: Int) { sum = sum &* 31 &+ UInt64(count) }

  var value: UInt64 { fingerprint.value &+ sum }
}
