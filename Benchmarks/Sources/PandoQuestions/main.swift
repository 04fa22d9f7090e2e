import Foundation
import Pando

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == OtherWriter.option, arguments.count == 2 {
  try OtherWriter.run(arguments[1])
  exit(0)
}
let options: Options
do {
  options = try Options(arguments)
} catch {
  FileHandle.standardError.write(Data("pando-questions: \(error)\n\(Options.usage)".utf8))
  exit(2)
}
exit(try await Command(options).run())
