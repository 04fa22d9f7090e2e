import Foundation
import Pando

let options: Options
do {
  options = try Options(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("pando-questions: \(error)\n\(Options.usage)".utf8))
  exit(2)
}
exit(try await Command(options).run())
