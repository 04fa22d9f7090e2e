import Testing

@testable import PandoManagersFixtures
@testable import PandoRemote

/// The forms of the header field `Link` that RFC 8288 allows.
@Suite struct LinkFieldTests {
  @Test(arguments: [
    "<p3>; rel=\"next\"", "<p3>; rel=next", "<p3> ; rel = \"next\"", "<p3>;rel=\"next last\"",
    "<p3>; Rel=\"Next\"", "<p3>; title=\"a, b; rel=prev\"; rel=\"next\"",
    "<p1>; rel=\"first\", <p3>; rel=\"next\"",
    "<p3>; title=\"a \\\" <x>\"; rel=next, <p1>; rel=prev",
    "junk, <p3>; crossorigin; rel=next", "<p2>; rel=prev; rel=next, <p3>; rel=next",
  ])
  func `the next page is found`(field: String) { #expect(LinkField.next(in: field) == "p3") }

  @Test func `commas in an address belong to it`() {
    #expect(
      LinkField.next(in: "<https://x/p?f=a,b&page=3>; rel=\"next\"") == "https://x/p?f=a,b&page=3")
  }

  @Test(arguments: [
    "", "<p3>", "<p3", "<p3>; rel=\"nextish\"", "<p3>; rel", "<p3>; rel=\"", "<>; rel=next",
    "; rel=next",
    "<p1>; title=\"rel=next\"",
  ])
  func `where there is none nothing is found`(field: String) {
    #expect(LinkField.next(in: field) == nil)
  }
}
