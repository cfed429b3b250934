import Foundation

/// A small RDB file that Redis 7.0 has written.
enum SampleRDB {
  static let bytes = Array(Data(base64Encoded: text) ?? Data())

  private static let text = """
    UkVESVMwMDEw+glyZWRpcy12ZXIGNy4wLjE1+gpyZWRpcy1iaXRzwED6BWN0aW1lwqoaDmv6CHVzZWQtbWVtwqDZDwD6CGFvZi1i\
    YXNlwAD+APsIARIEbGlzdAECDQ0AAAACAIFhAoFiAv/8AdjDLLsDAAAAB3Nlc3Npb24FdG9rZW4AA24xNsHSBBEGc2NvcmVzFBQA\
    AAAEAIFhAgEBgWICgzIuNQT/AANuMzLC6zKk+AACYXQGVmllbm5hAAJuOMD5AARsb25nwwk8AWFh4C8AAWFh/gX7AQAAAmF0BExp\
    bnr/tQ/YLuypBwE=
    """
}
