import Foundation
import Glibc
import MicroHTTP
import Pando

extension Program {
  /// Serves the shop until SIGTERM or SIGINT.
  ///
  /// - Parameter path: The folder of the store.
  /// - Throws: `StoreError`, `LMDBError` or `PortError` if it can't begin.
  static func serve(_ path: String) async throws {
    let stop = StopSignal.catchFirst()
    let store = try ModelStore(path: path)
    do {
      let service = ShopService(shop: try Shop("north", in: store))
      let server = try HTTPServer(port: 0) { try await service.answer($0) }
      say("listens on http://127.0.0.1:\(server.port), process \(getpid())")
      _ = await stop.value
      // Requests that run get their answers; then the store ends.
      await server.stop()
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    say("has closed its store in order")
  }

  /// Prints a line at once, into a pipe too.
  private static func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }
}
