import Pando

/// A user who reports issues, works on them and comments on them.
@Model struct User {
  @Key let id: Int
  var name: String
  @Unique var email: String
}

/// The subject of an issue.
@Model struct Label {
  @Key let id: Int
  var name: String
}

/// The project of an issue.
@Model struct Project {
  @Key let id: Int
  var name: String
}

/// Something to be done, without what was said about it.
///
/// Keys are given in the order in which issues are made, so the highest one is the newest. There is an
/// index for each question: what it asks for by value, then the order of its pages.
@Model(
  indexed: [\.status, \.id], [\.project, \.status, \.id], [\.author, \.status, \.id],
  [\.assignee, \.status, \.id], [\.labels, \.status, \.id])
struct Issue {
  @Embedded enum Status: String, CaseIterable { case open, waiting, closed }

  @Key @Indexed let id: Int
  var title: String
  var status: Status = .open
  /// From 1, the most urgent, to 4.
  var priority = 3
  /// Seconds since 1970.
  let created: Int
  let project: Key<Project>
  @Restrict let author: User
  @Restrict var assignee: User?
  var labels: [Label] = []
}

/// An issue as the board shows it: the same node with fewer fields.
@Model(of: Issue.self) struct IssueCard {
  @Key let id: Int
  var title: String
  var status: Issue.Status
  var assignee: User?
}

/// The comments on an issue: the same node once more.
///
/// Lists of issues need none of it, so it is a record of its own. The comments go with their issue.
@Model(of: Issue.self) struct Discussion {
  @Key let id: Int
  @Owned var comments: [Comment] = []
}

/// One comment.
@Model struct Comment {
  @Key let id: Int
  var text: String
  let created: Int
  @Restrict let author: User
}

/// A column of the board; its cards are an ordered list under a key.
@Model struct Column {
  @Key let id: Int
  var name: String

  /// The key of the list of cards.
  var cacheKey: String { modelIdentifier }
}

/// The last number of each kind that is in use.
@Model(key: "last") struct Numbers {
  var issue = 0
  var comment = 0
  var user = 0
}
