import Foundation
import Pando

/// “A local change”, and changes that come from elsewhere.
extension Story {
  /// A push appends a contact by the key of the list; Linus has also read the message.
  func push(_ service: InboxService) async throws {
    step(
      "A push brings a new contact: the list gets a row, and the message, which he has read, too")
    let linus = [Person(id: Backend.linus.id, name: Backend.linus.name, isOnline: true)]
    try await send("POST", "/push", JSONEncoder().encode(linus), to: service)
    try expect([
      Expectation("MessageView", .told, "Linus (online)", context: "a push"),
      Expectation("ContactsView", .told, "row 3 inserted", "Linus (online)", context: "a push"),
      Expectation("Store", .commit, "Person:15", "contacts", context: "a push"),
    ])
  }

  /// The view changes a row: it shows that at once, and only others are told.
  func edit(_ service: InboxService) async throws {
    step("The contacts view renames Ada: it shows that at once, and the message view is told")
    service.contactsView.rename(row: 0, to: "Ada Lovelace")
    await service.dataModelManager.drain()
    try expect([
      Expectation("ContactsView", .own, "row 0 updated", "Ada Lovelace (online)", context: "a tap"),
      Expectation("MessageView", .told, "from Ada Lovelace (online)", context: "a tap"),
      Expectation("Store", .commit, "updated Person:12", context: "a tap"),
    ])
  }

  /// Who is deleted is gone from everything that held her.
  func delete(_ service: InboxService) async throws {
    step("Grace is deleted: the list loses a row, the message a reader")
    try await send("DELETE", "/people/\(Backend.grace.id)", to: service)
    let context = "DELETE /people/\(Backend.grace.id)"
    try expect([
      Expectation("MessageView", .told, "read by Linus", context: context),
      Expectation("ContactsView", .told, "row 1 deleted", context: context),
      Expectation("Store", .commit, "deleted Person:13", context: context),
    ])
    let isGone = !service.messageView.content.contains("Grace")
    guard isGone else { throw StoryError("the message is still read by Grace") }
  }

  /// Sends a request to the service, as curl would, and waits until everybody has been told.
  private func send(
    _ method: String, _ path: String, _ body: Data = Data(), to service: InboxService
  ) async throws {
    let client = Network(port: service.port)
    defer { client.stop() }
    try await client.send(method, path, body)
    await service.dataModelManager.drain()
  }
}
