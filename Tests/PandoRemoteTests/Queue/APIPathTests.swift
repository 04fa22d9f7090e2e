import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures
@testable import PandoRemote

@Suite struct APIPathTests {
  @Test(arguments: [
    "", "a", "Book:7", "local:a/b", "50 % off", "%41", "ä é 日本 👩‍👧", "e\u{301}", "\u{0}\n\r\u{7F}",
    "a+b&c=d?e#f",
    "-._~:", "\u{FEFF}",
  ])
  func `unescaping is the inverse of escaping`(text: String) {
    let escaped = APIPath.escaping(text)
    #expect(escaped.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") })
    let unescaped = APIPath.unescaping(escaped)
    #expect(unescaped.map { Array($0.utf8) } == Array(text.utf8))
  }

  @Test func `every scalar of one byte, and digits of either case`() {
    for byte in UInt8(0)..<0x80 {
      let text = String(Unicode.Scalar(byte))
      #expect(APIPath.unescaping(APIPath.escaping(text)) == text)
    }
    #expect(APIPath.unescaping("%c3%A9") == "\u{E9}")
    #expect(APIPath.unescaping("a+b") == "a+b", "a plus is no space in a path")
  }

  @Test(arguments: ["%", "%4", "a%", "%G1", "%4G", "%%41", "% 41", "%-1", "%４１"])
  func `a broken escape gives nothing`(segment: String) {
    #expect(APIPath.unescaping(segment) == nil)
  }

  @Test(arguments: [".", ".."])
  func `a segment that leads elsewhere is refused`(identifier: String) async throws {
    let queue = APIClientQueue(client: APIClientDouble())
    for path in ["/songs/\(identifier)", "/songs/\(identifier)/end"] as [APIPath] {
      for method in [HTTPMethod.get, .delete] {
        let error = await apiError { _ = try await queue.send(APIRequest(method, path)) }
        #expect(error?.code == .invalidRequest)
      }
    }
    await queue.close()
  }

  @Test(arguments: ["GET /evil HTTP/1.1\r\nX:", "GET\n", "GE T", ""])
  func `a method that is no word is refused`(method: String) async throws {
    let client = APIClientDouble()
    let queue = APIClientQueue(client: client)
    let error = await apiError {
      _ = try await queue.send(APIRequest(HTTPMethod(rawValue: method), "/songs"))
    }
    #expect(error?.code == .invalidRequest && client.requests.isEmpty)
    await queue.close()
  }

  @Test(arguments: ["%FF", "%C3", "a%C3a", "%C0%80", "%ED%A0%80", "%F5%80%80%80", "%80"])
  func `bytes that are no UTF-8 give nothing`(segment: String) {
    #expect(APIPath.unescaping(segment) == nil)
  }
}
