/// The fields of a person, however it is coded.
protocol PersonContent {
  var identifier: String { get }
  var name: String { get }
  var email: String { get }
  var about: String { get }
  var age: Int { get }
  var followerCount: Int { get }
  var score: Double { get }
  var isVerified: Bool { get }
}

/// The fields of an author, however it is coded.
protocol AuthorContent {
  var identifier: String { get }
  var name: String { get }
  var followerCount: Int { get }
}

/// The fields of an image, however it is coded.
protocol ImageContent {
  var identifier: String { get }
  var url: String { get }
  var width: Int { get }
  var height: Int { get }
}

/// The fields of a message, however it is coded.
protocol MessageContent {
  associatedtype Writer: AuthorContent
  associatedtype Picture: ImageContent

  var identifier: String { get }
  var text: String { get }
  var sentAt: Int { get }
  var likeCount: Int { get }
  var author: Writer { get }
  var image: Picture? { get }
}

/// The fields of a discussion, however it is coded.
protocol DiscussionContent {
  associatedtype Post: MessageContent

  var identifier: String { get }
  var title: String { get }
  var messages: [Post] { get }
}

extension Person: PersonContent {}
extension Profile: PersonContent {}
extension Author: AuthorContent {}
extension Image: ImageContent {}
extension Message: MessageContent {}
extension Discussion: DiscussionContent {}
extension MessageBlob: MessageContent {}
extension MessageBlob.Part: AuthorContent {}
extension MessageBlob.Picture: ImageContent {}

extension DeclaredPerson: Checksummed {
  static func add(_ value: DeclaredPerson, to checksum: inout ModelChecksum) { checksum.add(value) }
}

extension DeclaredMessage: Checksummed {
  static func add(_ value: DeclaredMessage, to checksum: inout ModelChecksum) {
    checksum.add(value)
  }
}

extension DeclaredDiscussion: Checksummed {
  static func add(_ value: DeclaredDiscussion, to checksum: inout ModelChecksum) {
    checksum.add(value)
  }
}
