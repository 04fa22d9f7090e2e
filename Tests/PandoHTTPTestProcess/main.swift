// The server of the tests that need a real one: `HTTPTestProcess FOLDER [PORT]`.
// It prints its port, then a line for each request, and `ended TARGET` when a client of `/hold` has gone.
// Started again on a port, it has no faults any more. It ends with its input. What it has applied outlives it: FOLDER/applied, a line for each key and content.

import Foundation
import PandoFixtures

let arguments = CommandLine.arguments
guard arguments.count > 1 else { exit(2) }
let server = try TestServer(
  port: arguments.count > 2 ? UInt16(arguments[2]) ?? 0 : 0,
  handler: FaultHandler(
    applied: URL(fileURLWithPath: arguments[1] + "/applied"), isFaulty: arguments.count < 3
  ).answer)
say("\(server.port)")
while readLine() != nil {}
exit(0)
