import PandoFixtures
import ServiceFixtures
import Testing

@Suite struct READMETests {
  @Test func `the lines in the README are those that the program prints`() async throws {
    let section = try READMESection("Models in one place: shop")
    let told = try await blocking { try ChildProcess.run("shop") }.lines
    let shown = section.lines(of: "text")
    #expect(shown.count == 3 && Array(shown.dropFirst()) == Array(told.prefix(2)))
  }
}
