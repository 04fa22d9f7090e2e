import Testing

@testable import inbox

@Suite struct OptionsTests {
  @Test func `options come with a space or with an equals sign`() throws {
    let options = try Options(["--serve", "--port", "8034", "--directory=/srv/inbox"])
    #expect(options.serves && options.port == 8034 && options.directory == "/srv/inbox")
    #expect(try !options.isOffline && Options(["--serve", "--offline"]).isOffline)
    #expect(try Options(["-h"]).wantsHelp)
    #expect(try Options([]) == Options(["--port=0"]))
  }

  @Test(arguments: [
    ["--port"], ["--port", "65536"], ["--port", "-1"], ["--port", "http"], ["--directory="],
    ["--serve=yes"], ["store"], [""],
  ])
  func `other arguments are refused with a reason`(arguments: [String]) {
    #expect(throws: UsageError.self) { try Options(arguments) }
  }
}
