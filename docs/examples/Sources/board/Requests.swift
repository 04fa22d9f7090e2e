import MicroHTTP
import Pando

/// The content of `POST /issues`.
struct NewIssue: Codable {
  var title: String
  var project: Int
  var author: Int
  var assignee: Int?
  var priority: Int?
  var labels: [Int]?
}

/// The content of `PATCH /issues/ID`; absent fields stay.
struct IssuePatch: Decodable {
  var title: String?
  var status: Issue.Status?
  var priority: Int?
  /// `nil` if it stays; the inner value is `nil` to unassign the issue.
  var assignee: Int??

  private enum CodingKeys: String, CodingKey { case title, status, priority, assignee }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    title = try container.decodeIfPresent(String.self, forKey: .title)
    status = try container.decodeIfPresent(Issue.Status.self, forKey: .status)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority)
    if container.contains(.assignee) {
      assignee = .some(try container.decodeIfPresent(Int.self, forKey: .assignee))
    }
  }
}

/// The content of `POST /issues/ID/comments`.
struct NewComment: Codable {
  var text: String
  var author: Int
}

/// The content of `POST /users`.
struct NewUser: Codable {
  var name: String
  var email: String
}

/// The content of `PATCH /users/ID`; absent fields stay.
struct UserPatch: Codable {
  var name: String?
  var email: String?
}

/// The content of `POST /columns/ID/move`.
struct Move: Codable {
  /// The issue.
  var card: Int
  /// Its position afterwards; the end unless said.
  var at: Int?
}

extension HTTPRequest {
  /// The number of an issue, a user or a column, which is the second part of their paths.
  var number: Int {
    get throws(HTTPError) {
      if let number = Int(path[1]) { return number }
      throw HTTPError(404, "“\(path[1])” is no number")
    }
  }

  /// A number behind the question mark; `nil` if it is not there.
  func number(_ name: String, in range: ClosedRange<Int> = 1...Int.max) throws(HTTPError) -> Int? {
    guard let text = query.first(where: { $0.name == name })?.value else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let most = range.upperBound == .max ? "" : " and at most \(range.upperBound)"
      throw HTTPError(400, "\(name)=\(text): it is a number, at least \(range.lowerBound)\(most)")
    }
    return number
  }

  /// Refuses other fields behind the question mark than these.
  func allow(_ names: String...) throws(HTTPError) {
    for field in query where !names.contains(field.name) {
      let known = names.isEmpty ? "nothing" : names.joined(separator: ", ")
      throw HTTPError(400, "“\(field.name)” is not asked for here; there is \(known)")
    }
  }

  /// Which issues are asked for.
  var filter: IssueFilter {
    get throws(HTTPError) {
      var filter = IssueFilter()
      if let text = query.first(where: { $0.name == "status" })?.value {
        guard let status = Issue.Status(rawValue: text) else {
          let known = Issue.Status.allCases.map(\.rawValue).joined(separator: ", ")
          throw HTTPError(400, "status=\(text): there is \(known)")
        }
        filter.status = status
      }
      filter.project = try number("project").map { Project.key($0) }
      filter.author = try number("author").map { User.key($0) }
      filter.assignee = try number("assignee").map { User.key($0) }
      filter.label = try number("label").map { Label.key($0) }
      return filter
    }
  }

  /// The commit that `If-Match` names; `nil` without such a field.
  var expectedCommit: CommitNumber? {
    get throws(HTTPError) {
      guard let text = values(of: "if-match").first else { return nil }
      guard let number = CommitNumber(text.filter { $0 != "\"" }) else {
        throw HTTPError(400, "If-Match: \(text): it is what ETag said")
      }
      return number
    }
  }
}

extension HTTPError {
  /// The error for a path or a content that names a missing model.
  static func missing<M>(_ key: Key<M>) -> HTTPError { HTTPError(404, "there is no \(key)") }

  /// The refusal of the store, as far as it is for the client; else `nil`.
  init?(_ error: StoreError) {
    switch error.code {
    case .noSuchNode: self.init(404, "there is no \(error.subject)")
    case .restricted, .valueTaken: self.init(409, "\(error)")
    case .changedMeanwhile: self.init(412, "\(error)")
    case .indexOutOfRange: self.init(400, "\(error)")
    default: return nil
    }
  }
}
