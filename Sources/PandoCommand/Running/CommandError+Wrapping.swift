import LMDB
import ModelCore
import StoreEngine

extension CommandError {
  /// Makes one of any error that ends a command.
  init(wrapping error: any Error) {
    switch error {
    case let error as CommandError: self = error
    case let error as JSONError:
      self.init(
        .badInput, at: "line \(error.line), column \(error.column)", "not JSON: \(error.reason)")
    case let error as ModelError: self.init(.badInput, "\(error)")
    case let error as LMDBError:
      self.init(error.code == .badKeySize ? .badInput : .failure, "\(error)")
    case let error as PageWalkError: self.init(.failure, "\(error)")
    case let error as StoreError: self.init(error)
    default: self.init(.failure, "\(error)")
    }
  }

  private init(_ error: StoreError) {
    let (exitCode, remedy): (ExitCode, String) =
      switch error.code {
      case .noSuchNode: (.notThere, "")
      case .noSuchCollection: (.notThere, "")
      case .indexOutOfRange: (.notThere, "")
      case .changesExpired: (.notThere, "read the nodes themselves")
      case .cyclicModel, .emptyIdentifier, .typeCollision, .invalidModel: (.badInput, "")
      case .invalidDump: (.badInput, "")
      default: (.failure, "")
      }
    self.init(exitCode, "\(error)", remedy: remedy)
  }
}
