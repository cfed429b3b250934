import EskerFormat
import Foundation
import Testing

/// A small store that some version has written and closed: its files, but for the lock. They never change.
///
/// In the keyspace "posts", the keys of numbers 0 to 39 were put in their turn, with the value "value n", and each was read in order. Then every
/// seventh was removed, from 0 on, and every eleventh put again, from 1 on, with the value "new n". The keyspace "emptied" had the key
/// "gone", was emptied, and has "there". The keyspace without a name has the empty key, and "late", which expires in the year 3000.
struct StoredStore: CustomTestStringConvertible {
  /// A file, compressed with LZ4.
  struct File {
    let name: String
    let length: Int
    let block: String

    init(_ name: String, length: Int, _ block: String) {
      (self.name, self.length, self.block) = (name, length, block)
    }

    func bytes() throws -> [UInt8] {
      let block = try #require(Data(base64Encoded: block))
      var bytes = [UInt8](repeating: 0, count: length)
      let isWhole = block.withUnsafeBytes { block in
        bytes.withUnsafeMutableBytes { bytes in
          LZ4.decompress(block, into: bytes, dictionary: UnsafeRawBufferPointer(start: nil, count: 0))
        }
      }
      try #require(isWhole, "\(name)")
      return bytes
    }
  }

  let testDescription: String
  let files: [File]

  /// Of the last version whose checkpoints have the index alone.
  static let withoutOrders = StoredStore(
    testDescription: "without orders",
    files: [
      File(
        "0000000000000001.checkpoint",
        length: 271064,
        """
        okVTS1JDS1AxAQABAPQBHxbCcDvw6ZjzIFo1Qg/bKxgAEzcIAAQQACP4VgkAGhAYABMlCAAqDAABABPQIQCk4yJ6sHeMmesAEEAAEgQIABIgCAAi\
        CCEIAH+DRXspogEAAQD///////////////////9ZX78i5OAAAQD//////////////////////////////////////////////////////////5gQ\
        q+Q7PzhREoAX//////////////////////////////98EMQFAD/XitUABf/////pjzcHAAAAt+gLgBP//////////////////3MQPO9mLxKSiFf/\
        //////////////////////94j3cCAAAA2qGAAAj/////////7BCnBQA/xyFYwBf///////////////////+0EF4FAD9Po3cADP//////////////\
        8I/LBQAAAD6CgYBd/////////////////////////7iPrgMAAACUGFOACv////////////9vEEAAQj+RPzYIrP//////////////////////////\
        ////////////////////////////////mQ8BAP//////////////////////////////////////////BRD0AFc/4SRVgBf/////////////////\
        /////////////3wQIAUAP71oxQAM///////////////wEPwA0z+ekV2AAf9mENQAxj8De27AIv///////////////////////////zoQ7MCGP9P4\
        IMAI//////////+tEHbArT+HEniAj///////////////////////////////////////////////////////////////////////////////////\
        //////////////////+xDwEA//////////////////87EJhAej+nGHPAWv//////////////////////////////////////////////////////\
        //////////////////////////////////////////////////////////////////8ADwEA/////////////////////////////8MQLAUAPwIL\
        Z4AE/////2mP2QoAAAAch6UAAv/mEEsFAD9++OAABv///+iPIgYAAABRYcZAFv//////////////sI9iCAAAAKITrUAr////////////////////\
        ///////5ENPAJj8Fom1AEf//////////////////////NhA6BQA/1nYpgF3///////////////////////////////////////////8HfwEAAADb\
        E0pAAf8mEH5AAT+kV3/ADf///////////////3EQ5AUAP/r4JYAo//////////////////////////////////+/EGXAWj/34N8AA///5xAlAAM/\
        d3ZiAOL/////////////////////////////////////////////////////////////////////////////////////////////////////////\
        /////////////z6PawMAAADyXCRAKP////////////////////////////////////////////////////9NjwwCAAAAZ2tMwBr/////////////\
        /////////////////////78QzACcP5X4PAER//////////////////////YAABE//9Myfwf/////////bBCMBQA/dLNSfw//////////7BDawOY/\
        GnQQAKX//////////////////////////////////////////////////////////////////////////////////////6aPJAUAAADvfoAALv//\
        //////////////////////////////////////////////////////////8Tj/cJAAAAqnRngG//////////////////////////////////////\
        /////////////////////////////////////////////////6YPAQD//////////////////////75AiUH5mAQAQPVViGUIAPAFq95Cm6BdVfNk\
        FLw1vhmMheUBl1IYAETK07cnLAAEBABA7B2YTwgAQCKlZqYIAEyEqfc7JAAABABOSbCXaxgAAgQAgA/8I9VGq/4hDACA2BfUlA1jK6AMAPwBd4QX\
        e02vZhJ1uA+LlzOVqjgARBScfVAMAPkBwfG1azA1ltWGBB5Npct03igANYQVurAAPzEOkoQAAQAIAQDHwxMDCAAAAQBAFU8UbAgAE+Ba5BMlGAAT\
        AiQABCgAEv8BACt/AVgBFAIJAFXgTNqPHSgAFP8oABsiQAATKBAA8P86s1yJz2PZ5oc56IcPXqLZeLKAEyWRmpCQsBL5Y1MHQWURaW2XIgzfWXY0\
        sOcWe0Vxem85Ys4ZIoGGQokxlUvHVwvxBYCfmlfUXiEhCc4/qwtIfLbG9FzT2Tv+7ge4Wf6i6jsjITBkbo7zrkp31vSiQxBxrVjt9PBi4hNOUuXQ\
        L8mpjy294Crapu50KIFXIxX7yzSND7IIQn5A1ItWXMr8kzWtQQcxf/WKlbk9ofTe8YbIcRyCBftgLacrz0Ui06QLSnP8aLN5nbjMqY9fYgf5fBVN\
        Nyvlm3q+9/w/LROyydmaSXr1B8zfSUN6Zyc2MclKqKEdCljeXEUfKLBw9nZSAQfyNHrH1qDMN+IjGNio1RhJGBVmzACg3zd6D/4t9rrn70jXnVwc\
        r5EkcYu+EAgSCVl2ijEXuHEscOQZ2RUmt9p4KDrRCn0/DA==
        """
      ),
      File(
        "0000000000000001.segment",
        length: 24576,
        """
        okVTS1JTRUcxAQABAPQRHxbCcDvw6ZjzIFo1Qg/bKxkhtI8laeARjNFvRg49o50oAEAVTxRsCABRdEV7KaIVAC8BAAEAHcNLcK1vgq4RhRXBX4A+\
        APUBIUpz/GizeZ24BwAAAAUAAVYAwDEwLy8wdmFsdWUgMBAAk4IIuK9KajaiAjgAgPOuSnfW9KJDOAA2GQACOABONy8tLQEAIi8xTACjMds+ITtS\
        N4cKA0gAgEDUi1ZcyvyTSAA1LQADSABPMjQvLQEAFCIvMlwAEDI4AJP0RYprub7gswRgAIAfKLBw9nZSAWAANUEABGAATzMxLy0BACgiLzN0AKMz\
        Z3VhI4HEck4FcACAEWltlyIM31lwADZVAAVwAD84Ly0BADwiLzSEABA0YACTkFp8xEHSDaAGiACAOeiHD16i2XiIADVpAAaIAE80NS8tAQBQIi81\
        nACjNU9nHM8N/1AyB5gAgAfyNHrH1qDMEAA2fQAHOAI/Mi8tAQBkIi82rAAQNogAkyTLiPi6lGtVCLAAgHpvOWLOGSKBsAA2kQAIsAA/OS8tAQB4\
        Ii83xACjN01qDSuJWQRMCcAAgBVNNyvlm3q+wAA2pQAJYAM/Ni8tAQCMIi841AAQOLAAk/gSC/EOD5YNCtgAgMhxHIIF+2At2AA2uQAKaAM/My8t\
        AQCgIi857ACjOWpWG3KehZjzC+gAgBBxrVjt9PBikAI2zgALyAMfMOgAog8cBgMTMB0GwzAAAIvIS2gAsAhlDAABgMypj19iB/l8AAE24gAMAAEP\
        aAYDDxQBtwQxBxIx8ACT+ZVSd8Ni1qwNGAGA9/w/LROyydkYATb2AA2YBA84BxcPLAG3EzIsAcMyAAC16euKmAChHg4oAYCVuT2h9N7xhigBNgoB\
        DgAFDwAIKw88AbcTMzwBEjMYAZNMIvLxnY7/yA9AAYCpjy294CrapkABNh4BD0ABD9AIPw9UAbcTNFQBwzQAAEv+kRtr1T2eEFABkJpJevUHzN9J\
        CEQBJgEQuAYPmAlTD2QBtxM1ZAESNUABk4Cl/vZj2S7EEWgBgLKAEyWRmpCQaAE2RgEROAYPaApnD3wBtxM2fAHDNgAAA5qotyb5xEoSeAGANa1B\
        BzF/9Yp4ATZaARJ4AQ8wC3sPjAG3EzeMARI3aAGTPpoEmFeL9BYTkAFxSHy2xvRc0ygINm4BEygIDwAMjw+kAbcTOKQBwzgAAOUXfoZGdaHXFKAB\
        kLAS+WNTB0FlCGQRJgEUYAcPyAyjD7QBtxM5tAESOZABk/dLwmr0DGu7FbgBgKihHQpY3lxFuAE2lgEVyAcPmA23D8wBtiMyMCEUwzAAAKq3GfBE\
        5rLhFsgBgOo7IyEwZG6OyAE2qgEWyAEPYA7LD9wBtxMx3AEDKA+TZqIVfSJAbbQX4AGAyzSND7IIQn7gATa+AReQCA8oD98P9AG3BPEXwzIAAHC2\
        UYdxZeCiGPABgEN6Zyc2MclK8AE20gEY8AgP8A/zDwQCtxMzBAIDuBCTvYnqHg0tM7wZCAKApyvPRSLTpAsIAjbmARkIAg+4EP4PHALAEzQcAsM0\
        AACqIYGxgcObAxoYAoCGQokxlUvHVxgCNvoBGnALD4AR/g8sAtQTNSwCA0gSk7YR3VUxo7s5GzACgOITTlLl0C/JMAI2DgIbIAoPSBL+D0QC6BM2\
        RALDNgAAEdmvrTxP33scQAJxXiEhCc4/q4gGNiICHEACDxAT/g9UAvwTN1QCA9gTk2VZb5dZ5HUAHVgCgAvxBYCfmlfUWAI2NgId2AwP2BP/WA9s\
        ArcTOGwCwzgAAJVYHiI2vfk4HmgCgHY0sOcWe0VxaAI2SgIeSAsPoBT/bA98ArcTOXwCA2gVk1ySlZEGQLEeH4ACgDv+7ge4Wf6igAI2XgIfsAsP\
        aBX/gA+UArYjMzDdKcMwAACxmYRLJbxSKSCQAoDudCiBVyMV+5ACNnICIJACDzAW/5QPpAK3EzGkAgP4FpN/4GNBV5SRLiGoAoA34iMY2KjVGKgC\
        NoYCIXgMD/gW/6gPvAK3EzK8AsMyAADSztzSghHhgSK4AoBJGBVmzACg37gCNpoCItgMD8AX/7wPzAK3BAkyA4gYlFXJa8mwY00vI4gFcHoP/i32\
        uufQAjauAiPQAg+IGP/QD+QCtxM05ALDNAAAWnX0YbMjy8wk4AKA70jXnVwcr5HgAjbCAiQgEA9QGf/kD/QCtxM19AITNTw5gzFpbbh45l0l+AKA\
        JHGLvhAIEgn4AjbWAiUIDg8YGv/4DwwDtxM2DAPDNgAAyd1RZtCT+xomCAOAWXaKMRe4cSwIAzbqAiYIAw/gGv/+DxwDxRM3HAMDqBuTRpDjg9l5\
        euwnIAOAcOQZ2RUmt9ogAzb+AieIEQ+oG//+DzQD2RM4NAPDOAAAdq5nk30ItWgoMAOAeCg60Qp9PwwwAzYSAygwDw9wHP/+D0QD7RM5RAMDOB2S\
        vt7u+pA9IcYpDwAUIthFEQDYRRkp2EUA0UWT03IQ6tbYvSMqMAAE6EIRAOhCHyroQocDmACT29absXUu46krwAAEqDwRAKg8HyuoPP8VswAAVk0t\
        tG9FdBgsSAEEEDMRABAzHywQM/+hArABkykmFuGbaqFiLdgBBDAmEQAwJh8tMCb//y6zAADx0NRjbrKaFC5gAgQIFhEACBYfLggW//+6AsgCm/75\
        e9QWhXywLwBPEQUATx8vAE8P4G5ldyAxAACgw8idlDoA60gJyEcRBshHHzDIR+wBJQEByE+bpo4nbBVAID0x2DcRBtg3HzHYN//JAAQCuzIzVF1G\
        ClovppcySB8RBkgfHzJIH///pgDcAhEzsFOUa1TV4yX+BCwz+CRwkGhEZEFHnbhUUwQAMwAC4AJAZ29uZQQAQavv1VrwAgIXABok2lUzNAACElaT\
        Ody1dMEVI5Q1WACRs1yJz2PZ5ocFCBAVNSgAUXRoZXJlBQACKQCSW0DJYzTSEhI2DwCSAcxYINrGzIDUcE7wADYAd2l0aG91dCBhIGtleQwwcws4\
        Cry0JA2QD5IRMchxWPp0BbrAAOA3AADgTNqPHQAAbGF0ZQQAHwABAP//////////91AAAAAAAA==
        """
      ),
      File(
        "manifest.a",
        length: 4096,
        """
        okVTS1JNQU4xAQABABMFCAATWBEA8xqu3GNmUgUCtB8WwnA78OmY8yBaNUIP2ysZIbSPJWngEYzRb0YOPaOdAAEAEzcIABM4CACTjEV7KaIBAAAC\
        EAAECAAEcAATAwQALwEAAQAVHwEOAAJIFU8UbBQAGwGQAC/4Vk4AAxL/AQATfw8AFYAZAB9gMAAKHP+AAAQYAABAAVdwb3N0c/AAFwEgAM8HAAAA\
        ZW1wdGllZAABAP//////////////////elAAAAAAAA==
        """
      ),
      File(
        "manifest.b",
        length: 4096,
        """
        okVTS1JNQU4xAQABABMFCAATWBEA8xqu3GNmUgUCtB8WwnA78OmY8yBaNUIP2ysZIbSPJWngEYzRb0YOPaOdAAEAEzcIABM4CACTjEV7KaIBAAAC\
        EAAECAAEcAATAwQALwEAAQAVHwEOAAJIFU8UbBQAGwGQAC/4Vk4AAxL/AQATfw8AFYAZAB9gMAAKHP+AAAQYAABAAVdwb3N0c/AAFwEgAM8HAAAA\
        ZW1wdGllZAABAP//////////////////elAAAAAAAA==
        """
      ),
    ]
  )

  /// Of the version whose checkpoints have keys in order: those of all three keyspaces.
  static let withOrders = StoredStore(
    testDescription: "with orders",
    files: [
      File(
        "0000000000000001.checkpoint",
        length: 299864,
        """
        wEVTS1JDS1AxAQAAAAQA8gP4w+ELGst0Rzp3fUddHBpaAQABABM3CAAEEAAj+FYJABoQGAATJQgAKgwAAQAiUAIIAKRHcY1THhm17AAQQAASBAgA\
        EpAIADIIkQQXAG8ogCmiAQABAP///////////////////1lf8ho0HAABAP//////////////////////fY9iCAAAAHMTMogR////////////////\
        //////9+DwEA/6aPIgYAAAA0s92AEv///////////////////////3cQxAUAP+a3p8Al/////////////////////////zgPAQD/////////////\
        ////////////////////////////////TxDaJHw/e0O3gDX/////////////////////////////////////////////////////////////////\
        /////5oPAQD//////////////////////////////////////////////////////1YQOgUAP5h3nEAz////////////////////////////////\
        ////////////////////////////////////WI/0AwAAAIb0qoAv////////////////////////////////////////////////////////////\
        //+UEIwFAD+VCzQABf/////pj3cCAAAAeaiVwBT///////////////////+0IJgHRUQvSErAK//////////////////////////////7jyUKAAAA\
        FzOhwA7//////////////////7MQawBqPxltCQAE////6BDkBQA/+L/IQAL//ycQ9zoGPxpFgIAM////////KxBeBQA/V65z////////////////\
        /////////////////////////////////////////////////////////////////////////////////////////////////////3oPAQD/////\
        ///////////////////////EAECHPyD9SP8P////////////////////9BEgBBAvsHZ/T///////////////////////////////////////////\
        /////////////////////////////////////////6SPLAEAAADqyM+AA////2iPDAIAAADNXtDAKf//////////////////////////////////\
        ////////////////S4/UBAAAACQ5OgBe/////////////////////////////////////////////////////////////////////1mP/AcAAAC0\
        SQYAmv///////////////////////////////////////////////////////////////////////////////yGPJAUAAAD36IIAEP//////////\
        //////////QQSwUAP7uvQ4A+/////////////////////////////////////////////////////////////5OP2QoAAABMMtfAAKUQfkDZPyXC\
        70AI/////////2wQN8CCP7JweIAb/////////////////////////zgQq8AaP++YPgCW////////////////////////////////////////////\
        ////////////////////////////////////IQ8BAP//////8hDTgF0/baDzwAL//6ePQAIAAABxHG4ADP///////////y4QywCoPzIVJQAk////\
        ///////////////////////////8EHYAGD/awQrAFf///////////////////////////7qPPAQAAAA/SMeAYf//////////////////////////\
        /////////////////////////8wQzHo9P8bvfAAC/+aPrgMAAABoMlsAFv/////////////////////////4ECwFAD+MR1XAA////6gQpwUAP5T1\
        rsAB/6YR7EB6L1SXABL///////////////9xEGUAKD8K+yfBR//////////////////////////////////////////FMBAAAEMsL/wPHwADRcK6\
        pDENAK8EAABldGFs/wME+w/////////////////////BQGxhdGUAEABD+x/4ABAEQHEp27wIAH9yZWh0/gMF9x/////////////////////FU3Ro\
        ZXJlACAAwz8fsCgABDGdix9cyfA4LS8xMYsD0gEtLzIxawN9AC0vMzHYAkoCLS80MZoC9gAtLzYxPgJuAS0vNzE3AhkALS84Mb0B5gEtLzAyJQFe\
        Ai0vMTLiAApAAF8yLADWArgAJU8yMi8tAQD//76PLzM2AAAyMS8MAfJ/MTMAADIwL2wD//9JbzAAADE4L+gB/89/MjQAADE3L2QEAgDRKD8xNi+M\
        Af9XfzE4AAAxNC/4AN9vMgAAMTMvuAb//zRfMjkAADH8DGcgLzY0BS8xL1QC/7wWMwAQL6ABcA8DQjujzRcAEPAnMzKfA4IBLS80MpMDLQAtLzUy\
        FAP6AS0vNjLqAqUALS83Mk0CcgItLzkykgHqAi0vMDMsAZYB0gtAGwFBAG4Av5cADgItLzMzaAC5qBH/Fx8zQAajIC85vAAvMi/ABv/4bzYAADMx\
        L7wNKwBUAi8wL9wB/4BfMAAAMjmYFf/+D0ASxG83AAAyNy90Av//XU8xAAAysBKPIC84oBsvNS/gCf/kbzUAADI0LzAAFwAsAg8cE/9sMi8xOQAQ\
        XwgAAAAUkh8EQqHpRXQAENA0M14DhgItLzUzEQMy+A/wBTNRAv4CLS84MzsCVQAtLzkzsgEi+A9ANH4BzjAgUDTXAJoCihdPhQBGARwi/5o/NDIv\
        XAP/MG82AAA0MS/EDP//hW8zAAA0MC9sA7dPMAAAM4AQ//4McApPNwAAM/ghPyAvNJQUD0wg/g9MBv/ZbzgAADM1LxwK/xxvNQAAMzQvvAP//3ES\
        MgAQXwYAAADQ2z8EQxYiq8UAIPAFNDsDEgMtLzQ0ywK+AS0vNTSwAmn4H0A0dwLi8C9ANMsBrgAgXzR0AVoB2DX//////2o/NDkvLBf/RG83AAA0\
        OC+YDf//mU80AAA0qCDKAJI6PwAANHwOUyAvNVwFD7QN/6cAdjw/AAA0jDH//g8kBu0DACAAw6VI3A8AALUPBAwAQx7Q/T6KLlAy/QMCAEYDEfoI\
        AF8zNPcDAuRP////////////////////mSMBMBQaUjMAAAEgxg8AGBYiARBMTwAAQPABiUH5mEruS1nGD8twhHpoZxAAAAQARJMiCAwMAAgEAERe\
        VOymDABEl6YMaQwA/glxjReD0/0ZkxtVl66L/DQ+fSCENKsac0BEAAIEAIgSPraEGgUBCBQAQHmMuFoIAEQNeypiFABI7dM55SQAhGxNqFyvZcK7\
        EADIcBwAs2WwABheh0DjKADAqGEobCz0OEl7K1Z8EABAhzP+MQgA8AFMNPEq9oLJ0q3R2HKOnFdEFAAE8BAXA/gQQMdIE5AIACLgPBAAGyVcAQX6\
        EIPgTNqPHQAA/wEAEwJEAARIAAMXACt/AVgRGyIgABMoEAD8/zshb/zOB/S7IS6DeccZ6pKgKFwi/G5eccmIT1nvGhZ7doL+g3ScI1pWaHUxEwpl\
        7XO8pVEEmByUq2u7+zoUhK5ak/yO6bP3dNTdYH57GlWIsqYdx+FmoaY17i2G3BDvO7rDqI78XADkdNV15TqX5xQ/6yivIklNT9ssHnw7D3khmyt7\
        jy6IXu7F0djsBb2bTMWzhf+LjDNKHI8fR3V5AiFtepw5WQH8nxUpjyazRdM0RCtaUb7KcIdDxacAa9cE8lD7Y0ivGktV4IUH0o/kLc5gec94VOVO\
        0emzsTd0SwcOi82Uh1qZCw4eakmSowPDiD8rrh2sMKxW/aOV0ZZw2AgauVS5QMOe9E7LLVNRgha1v5NAM9td8NlUwa+wf/JJ6aNo68F3L644nEYs\
        C4c31NurDEWPpDS/LDQ7SptkUL3dEEYwNyFTQT5VAw0DJSAE8HIPyAEBFAKcAR8wKAADDMABIwBAKAAUUBAABdgBUAAAAAAA
        """
      ),
      File(
        "0000000000000001.segment",
        length: 24576,
        """
        okVTS1JTRUcxAQABAPQR+MPhCxrLdEc6d31HXRwaWiofYSHrb0AC4ftJlFQXp7MoAEDHSBOQCABR/SeAKaIVAC8BAAEAHcMymaGCyzQwFhXBX4A+\
        APUBIStaUb7KcIdDBwAAAAUAAVYAwDEwLy8wdmFsdWUgMBAAk7PsVQpKajaiAjgAgLylUQSYHJSrOAA2GQACOABONy8tLQEAIi8xTACjMVl/v6JS\
        N4cKA0gAgMWnAGvXBPJQSAA1LQADSABPMjQvLQEAFCIvMlwAEDI4AJMlOJqCub7gswRgAIB5z3hU5U7R6WAANUEABGAATzMxLy0BACgiLzN0AKMz\
        bGKaxYHEck4FcACALoN5xxnqkqBwADZVAAVwAD84Ly0BADwiLzSEABA0YACTwQwOEUHSDaAGiACAa7v7OhSErlqIADVpAAaIAE80NS8tAQBQIi81\
        nACjNQwZGU8N/1AyB5gAgNV15TqX5xQ/EAA2fQAHOAI/Mi8tAQBkIi82rAAQNogAkxc0PYy6lGtVCLAAgCwefDsPeSGbsAA2kQAIsAA/OS8tAQB4\
        Ii83xACjN/jMotuJWQRMCcAAgLlUuUDDnvROwAA2pQAJYAM/Ni8tAQCMIi841AAQOLAAk36fjwkOD5YNCtgAgIhPWe8aFnt22AA2uQAKaAM/My8t\
        AQCgIi857ACjOU2NrxGehZjzC+gAgN1gfnsaVYiykAI2zgALyAMfMOgAog8cBgMTMB0GwzAAAAT/RIgAsAhlDAABgLOF/4uMM0ocAAE24gAMAAEP\
        aAYDDxQBtwQxBxIx8ACTVCL+scNi1qwNGAGAhQfSj+QtzmAYATb2AA2YBA84BxcPLAG3EzIsAcMyAAC+llSRmAChHg4oAYDDqI78XADkdCgBNgoB\
        DgAFDwAIKw88AbcTMzwBEjMYAZPa8zwgnY7/yA9AAYB6nDlZAfyfFUABNh4BD0ABD9AIPw9UAbcTNFQBwzQAAEdERMJr1T2eEFABkChcIvxuXnHJ\
        CEQBJgEQuAYPmAlTD2QBtxM1ZAESNUABk9/rv3lj2S7EEWgBgJP8jumz93TUaAE2RgEROAYPaApnD3wBtxM2fAHENgAARJQxgSb5xEoSsAdwsTd0\
        SwcOi3gBNloBEngBDzALew+MAbcTN4wBEjdoAZO6X/wXV4v0FhOQAYDR2OwFvZtMxZABNm4BEygIDwAMjw+kAbcTOKQBwzgAAExuDw9GdaHXFKAB\
        gKYdx+FmoaY1oAE2ggEUYAcPyAyjD7QBtxM5tAESOZABk0mqhlz0DGu7FbgBgM2Uh1qZCw4euAE2lgEVyAcPmA23D8wBtiMyMCEUwzAAAJ3pKf5E\
        5rLhFsgBgO4thtwQ7zu6yAE2qgEWyAEPYA7LD9wBtxMx3AEDKA+T8mJA4iJAbbQX4AGAjx9HdXkCIW3gATa+AReQCA8oD98P9AG3BPEXwzIAANdA\
        7xxxZeCiGPABgGh1MRMKZe1z8AE20gEY8AgP8A/zDwQCtxMzBAITMyATgz1RbQ0tM7wZCAKAo5XRlnDYCBoIAjbmARkIAg+4EP4PHALAEzQcAsM0\
        AAAjPNYDgcObAxoYAoApjyazRdM0RBgCNvoBGnALD4AR/g8sAtQTNSwCEzUhAoNHiWAxo7s5Gw8AgPtjSK8aS1XgMAI2DgIbIAoPSBL+D0QC6BM2\
        RALDNgAA/FuNjjxP33scQAKAgv6DdJwjWlZAAjYiAhxAAg8QE/4PVAL8EzdUAgPYE5OVK7LaWeR1AB1YAoDrKK8iSU1P21gCNjYCHdgMD9gT/1gP\
        bAK3EzhsAsM4AABvLY/INr35OB5oAoBqSZKjA8OIP2gCNkoCHkgLD6AU/2wPfAK3Ezl8AgNoFZTcqKQRBkCxHh+gKGF7jy6IXu7AGDZeAh+wCw9o\
        Ff+AD5QCtiMzMN0pxDAAAAsohBwlvFIpIJACcK4drDCsVv2QAjZyAiCQAg8wFv+UD6QCtxMxpAID+BaT4b9rAVeUkS4hqAKAyy1TUYIWtb+oAjaG\
        AiF4DA/4Fv+oD7wCtxMyvALEMgAAFkb6Z4IR4YEiuCNwQDPbXfDZVLgCNpoCItgMD8AX/7wPzAK3BAkyA4gYk2dY+06wY00vI9ACgMGvsH/ySemj\
        0AI2rgIj0AIPiBj/0A/kArcTNOQCxDQAAAE1jbqzI8vMJHAdcOvBdy+uOJzgAjbCAiQgEA9QGf/kD/QCtxM19AIDGBqTkQd7O7h45l0l+AKARiwL\
        hzfU26v4AjbWAiUIDg8YGv/4DwwDtxM2DAPDNgAAEEoGA9CT+xomCAOADEWPpDS/LDQIAzbqAiYIAw/gGv/+DxwDxRM3HAMDqBuTWCBji9l5euwn\
        IAOAO0qbZFC93RAgAzb+AieIEQ+oG//+DzQD2RM4NAPEOAAAoYDKk30ItWgoWAlhMDchU0E+gD82EgMoMA8PcBz//g9EA+0TOUQDAzgdkvdEz2mQ\
        PSHGKQ8AFCLYRREA2EUZKdhFANFFk+CNpZ7W2L0jKjAABOhCEQDoQh8q6EKHA5gAk00HVWB1LuOpK8AABKg8EQCoPB8rqDz/FbMAAGETHbpvRXQY\
        LEgBBBAzEQAQMx8sEDP/oQKwAZPZVMusm2qhYi3YAQQwJhEAMCYfLTAm//8uswAAqpCtuG6ymhQuYAIECBYRAAgWHy4IFv//ugLIApvPHZZxFoV8\
        sC8ATxEFAE8fLwBPD+BuZXcgMQAADXRkW5Q6AOtICchHEQbIRx8wyEfsASUBETLeUIt4mfcVQCA9Mdg3EQbYNx8x2Df/yQAEArsyM2bM1o1aL6aX\
        MkgfEQZIHx8ySB///6YA3AIRM7BTk3Q8uqQl/gQsM+ACgGRiXn+UImHRuFRjBAAzAAIAUCIwb25lBABB3C36CvACAhcAGiTaVTM0AAISVoSTkgGM\
        wRUjlM82kSFv/M4H9LshBQgQFTUoAFF0aGVyZQUAAikAkvR74Pk00hISNg8AkgGb3QY6/5hONXBO8ws2AHdpdGhvdXQgYSBrZXkAAABxpGjCvLQk\
        DZAPkhElzCRzDdH3fsAA4DcAAOBM2o8dAABsYXRlBAAfAAEA///////////3UAAAAAAA
        """
      ),
      File(
        "manifest.a",
        length: 4096,
        """
        okVTS1JNQU4xAQABABMFCAATWBEA8xrzhdcfqkQZcPjD4Qsay3RHOnd9R10cGloqH2Eh629AAuH7SZRUF6ezAAEAEzcIABM4CACTFCiAKaIBAAAC\
        EAAECAAEcAATAwQALwEAAQAVHwEOAAJIx0gTkBQAGwGQAC/4Vk4AAxL/AQATfw8AFYAZAB9gMAAKHP+AAAQYAABAAVdwb3N0c/AAFwEgAM8HAAAA\
        ZW1wdGllZAABAP//////////////////elAAAAAAAA==
        """
      ),
      File(
        "manifest.b",
        length: 4096,
        """
        okVTS1JNQU4xAQABABMFCAATWBEA8xrzhdcfqkQZcPjD4Qsay3RHOnd9R10cGloqH2Eh629AAuH7SZRUF6ezAAEAEzcIABM4CACTFCiAKaIBAAAC\
        EAAECAAEcAATAwQALwEAAQAVHwEOAAJIx0gTkBQAGwGQAC/4Vk4AAxL/AQATfw8AFYAZAB9gMAAKHP+AAAQYAABAAVdwb3N0c/AAFwEgAM8HAAAA\
        ZW1wdGllZAABAP//////////////////elAAAAAAAA==
        """
      ),
    ]
  )

  /// Of the version whose checkpoints say how many bytes keyspaces take. The keyspace "cache" has a capacity of ten entries, and 1 MiB: of
  /// the keys "0" to "14", which were put in their turn, the last ten.
  static let withByteCounts = StoredStore(
    testDescription: "with counts of bytes",
    files: [
      File(
        "0000000000000001.checkpoint",
        length: 300048,
        """
        8hNFU0tSQ0tQMQEAAAADAAAAqmsUuDEpEFlgtSpmEnazXAEAAQATSwgABBAAI9haCQAaEBgAEy8IACoMAAEAIggDCACkAn8vODdpNUkAEEAAEgQI\
        ACKQBCgAEpEIAH+uQ08qogEAAQD///////////////////9ZXzIy3FEAAQD//////////////////////////////////////////////88gdgUF\
        AC8G3kAS////////////////////////NxAsBQA/Cx2iwCb//////////////////////////3mPmAcAAACHovuISv//////////////////////\
        ////////////////////////0A8BAP/////////////////////////////////////////////////////////QjyIGAAAAvBZMwCP/////////\
        /////////////////////////////////////8iPIAsAAABvQnRACP//////////LgAFAD+FoRFAHP/////////////////////////4EDoFAD8S\
        J6gACP/////////sIA4LvfEvkAOAAv//Z49iCAAAAEoLKcAW////////////////MY/YCgAAAGHGHACA////////////////////////////////\
        //////////////////////9OECVAKS8omwBU//////////////////////////kPAQD//2+PQAIAAAAvK+OBOf//////////////////////////\
        ////////////////////CQCAOT9cf1H/EP/////////////////////1EAwAND936lv/LP////////////////////////////////////8BEF4F\
        AD+ECF7AGP///////////////////////////////70QVEC3P/pFisAS////////////////////////tyCrAYArL5onQBL/////////////////\
        //////83IPQDwGovjR6AC///////////////cBAIgDA/5DaSgAP///9oEPzAeT+xbwaASv////////////////////////////97EK6AJT8ul37A\
        Cv////////////+vEKcFAD8ZFjy/vP///////////////////////////////////////////8YQjAUAP3gqr4AJ////////////bo/UBAAAALdE\
        IQAH////////6xB+wHQ/aKwZQCT/////////////////////////uI/3CQAAAIJx3gBG////////////////////////////////////////////\
        xg8BAP////////////////////////////////////+JEMQFAD8nU8SANP//////////////////////////////////////////////////////\
        //////////////+ZjzcHAAAAG+nbgAX//////2oQZYDfP/+FB4AF//////9qICwBAPQvguxAAv//JxDSwAc/X5StAAf/////qRBHgO8/xy5kgBr/\
        /////////20Q5AUAP3ZpsgAk////////////bhA8gLE/6oTVQAj//////////y0QzAAfPwHtn0AR///////////tj+wCAAAA0M3pAED/////////\
        ////rxDaADU/agRRwFP/////////////////////////uBA6wEE/RQPLgBD/////////////////////dRFLxZgvC7JAmP//////////////////\
        //////////////////////////////////////////////////8ZjyQFAAAAi5IvwAv//////////////7AQy8ALP562RoDY////////////////\
        /////////////////////////////////////////////////////5kPAQD/////////////9xD8+t0/OQWjwBT/////////////////////////\
        /7kgLQtFuC/fkwBN//////////////////////////////////////////////////////////////////////////9dj2sDAAAAYUQxwAL//6cQ\
        FAA7P3F35QAS////////////////////NI93AgAAAFw14QAB5RACQBA/euBvQTj/////////////////////////////////////////////////\
        S48QAAAKAAAAsB8ABEGdix/zqHDwNy8xMYsD0gEtLzIxawN9AC0vMzHYAkoCLS80MZoC9gAtLzYxPgJuAS0vNzE3AhkALS84Mb0B5gEtLzAyJQFe\
        Ai0vMTLiAApAAF8yLADWAq8AJU8yMi8tAQD//76PLzM2AAAyMS8MAfJ/MTMAADIwL2wD//9JbzAAADE4L+gB/89/MjQAADE3L2QEAgAtQT8xNi+M\
        Af9XfzE4AAAxNC/4AN9vMgAAMTMvuAb//zRfMjkAADH8DGcgLzY0BS8xL1QC/7wWMwAQL6ABcA8DQjujzRcAEPAnMzKfA4IBLS80MpMDLQAtLzUy\
        FAP6AS0vNjLqAqUALS83Mk0CcgItLzkykgHqAi0vMDMsAZYB0gtAGwFBAG4Av5cADgItLzMzaAC5nxH/Fx8zQAajIC85vAAvMi/ABv/4bzYAADMx\
        L7wNKwBUAi8wL9wB/4BfMAAAMjmYFf/+D0ASxG83AAAyNy90Av//XU8xAAAysBKPIC84oBsvNS/gCf/kbzUAADI0LzAAFwAsAg8cE/9sMi8xOQAQ\
        EAiIVQ+SHwRCoelFdAAQ0DQzXgOGAi0vNTMRAzL4D/AFM1EC/gItLzgzOwJVAC0vOTOyASL4D0A0fgHOMCBQNNcAmgKKF0+FAEYBEyL/mj80Mi9c\
        A/8wbzYAADQxL8QM//+FbzMAADQwL2wDt08wAAAzgBD//gxwCk83AAAz+CE/IC80lBQPTCD+D0wG/9lvOAAAMzUvHAr/HG81AAAzNC+8A///cRIy\
        ABBvBgAAANAFDA4DQxYiq8UAIPAFNDsDEgMtLzQ0ywK+AS0vNTSwAmn4H0A0dwLi8C9ANMsBrgAgXzR0AVoBzzX//////2o/NDkvLBf/RG83AAA0\
        OC+YDf//mU80AAA0qCDKAJI6PwAANHwOUyAvNVwFD7QN/6cAdjw/AAA0jDH//g8kBu0DACAAQ3hI3A8AALUPBAwAQx7Q/T6KLlAy/QMCAEYDEfoI\
        AF8zNPcDAttP////////////////////mSMBMBQaUjMAAAEgxg8AGBYjARBMTwMAQBACSNUfD0QAAzbCuqRciK8EAABldGFs/wME+1//////////\
        ///////////BYmxhdGUAEOwfH/gAEARAcSnbvAgAf3JlaHT+AwX3b////////////////////8XAdGhlcmUAAACJQfmYBADEMcu1MukGKCRnBlPZ\
        FAAFBAAwtrqNCADwBak+fNiWHyB8Bnu9TzL35xH4qg1fGABAKq5JHAgAQLE0EN0IAID2MomT3/yuUQwA8AUwvRxly4LR9DQS89Mg1VkWTAJQuhgA\
        NckinGgAyPibOvei+K4hWXpPvHgARGFACcAMAPQN4Kt4aHIEjMUT9zsEzfetzgdKJhltzk8YlO/uTiQAiOKpA4tjNjWBRACI1I1tJ9X/o04UAITE\
        bQqUvcwMthAABPAwFwT4MEC+PPvkCAAT4P4wEy8YABMDCAATCggAEwgDMRL/AQArfw9AMRMiCAAqSDwoABwoyJYDCAAUYBEAVeBM2o8dMAAj/wJU\
        AARYACowAFAABBgA+/+zmSO9Zx1RMyoQpMf4MMNz/AaE1nzESTaH8Bpw80R0DPSFAfOxqCFPkDUX+2aQJxtQq68H/lY8+bknR24j+cvha4gTADmA\
        NKq4ah93V54oLeL38iZEp1CpV36u/T1ZS3YC7Fs0sMxaE9zleuxClhBwXWWmX6SIHoS3j+dy6be4In3SKBjnPVJPsHIL3Zze2luvLatOWL3mv407\
        cljBpWHbn8L0sjK+bpt3TsX1F7VEaQaPYGfgnUmz3st5MkUMggY1natGEBXFwtnTbVetySzHJWgjcYKqP4jPg4jGmrGBB0eSdae+hUS/oy5MvCAr\
        YrKj/rwo+ZKTJ4pV2qDYZNmvusnKJcgOq4SPB2uXJrvugE2wRqh5omPKFWOxdCnyzD1ZGFMYGlE0AV9fH0YUM79SjAJGiOBlEbdH+cbV6NGxFCPY\
        sNAhCpzmAbqXYcHD63pgaISyGaG+HdfUvVQ5YzA4K2d4SxSi9Q0wQYin8vqGE9mnz1UTzhjaCC3taWtEAkJVaMJrwTR5rRaz+l940F94lntFQKvL\
        IMbVnbqRvu29ek4qcSi6v1TsMSueUzDahijhkqO0kDIm+Q5OG9D+WR0bVwNAAiMAIGwjE1AQABpAWAIFAQAlcATQcw9YAgEUAlQAHoAoAANwAFAA\
        AAAAAA==
        """
      ),
      File(
        "0000000000000001.segment",
        length: 24576,
        """
        okVTS1JTRUcxAQABAPQRqmsUuDEpEFlgtSpmEnazXMp8eCDZJCHkwA4BMSvTOSYoAEC+PPvkCABScUNPKqIVAC8CAAEAHMP0h/nUhl2NvxXBX4BY\
        APQCIdS9VDljMDgrBwAAAAUAAQBwAMAxMC8vMHZhbHVlIDAQAJOy4QA8Smo2ogI4AIDSKBjnPVJPsDgANhkAAjgATjcvLS0BACIvMUwAozFAAtmG\
        UjeHCgNIAIAYUxgaUTQBX0gANS0AA0gATzI0Ly0BABQiLzJcABAyOACTZxDCxbm+4LMEYACA2LDQIQqc5gFgADVBAARgAE8zMS8tAQAoIi8zdACj\
        MxRP19aBxHJOBXAAgGgjcYKqP4jPcAA2VQAFcAA/OC8tAQA8Ii80hAAQNGAAk2hsnOpB0g2gBogAgC5MvCArYrKjiAA1aQAGiABPNDUvLQEAUCIv\
        NZwAozUfOkWiDf9QMgeYAIACRojgZRG3RxAANn0ABzgCPzIvLQEAZCIvNqwAEDaIAJObMkahupRrVQiwAIBjsXQp8sw9WbAANpEACLAAPzkvLQEA\
        eCIvN8QAozc2QkT1iVkETAnAAIBBiKfy+oYT2cAANqUACWADPzYvLQEAjCIvONQAIDgAvAOD8VA4Dg+WDQrYAIC6l2HBw+t6YNgANrkACmgDPzMv\
        LQEAoCIvOewAozlKITrjnoWY8wvoAIDLeTJFDIIGNZACNs4AC8gDHzDoAKIPHAYDEzAdBsMwAAChhBRnALAIZQwAAYAHa5cmu+6ATQABNuIADAAB\
        D2gGAw8UAbcEMQcSMfAAk9ZF82PDYtasDRgBgE7F9Re1RGkGGAE29gANmAQPOAcXDywBtxMyLAHDMgAA7t+TeJgAoR4OKAGAycolyA6rhI8oATYK\
        AQ4ABQ8ACCsPPAG3EzM8ARIzGAGTZS3PHp2O/8gPQAGAVdqg2GTZr7pAATYeAQ9AAQ/QCD8PVAG3EzRUAcM0AADnmSbIa9U9nhBQAZCDiMaasYEH\
        RwhEASYBELgGD5gJUw9kAbcTNWQBEjVAAZP7OS5HY9kuxBFoAYCwRqh5omPKFWgBNkYBETgGD2gKZw98AbcTNnwBwzYAAEYRGogm+cRKEngBgJ2r\
        RhAVxcLZeAE2WgESeAEPMAt7D4wBtxM3jAESN2gBk8GwlcBXi/QWE5ABgJJ1p76FRL+jkAE2bgETKAgPAAyPD6QBtxM4pAHDOAAAcadVH0Z1odcU\
        oAGAwvSyMr5um3egATaCARRgBw/IDKMPtAG3Ezm0ARI5kAGTyp8zcfQMa7sVuAGAp89VE84Y2gi4ATaWARXIBw+YDbcPzAG2IzIwIRTDMAAADe7P\
        jkTmsuEWyAGQO3JYwaVh258IjBUmARbIAQ9gDssP3AG3EzHcAQMoD5NrfcKXIkBttBfgAZByC92c3tpbrwhEFyYBF5AIDygP3w/0AbcE8RfEMgAA\
        cnqNinFl4KIYgBdwhLIZob4d1/ABNtIBGPAID/AP8w8EArcTMwQCA7gQkyav4HMNLTO8GQgCgF8fRhQzv1KMCAI25gEZCAIPuBD+DxwCwBM0HALD\
        NAAAKMkwK4HDmwMaGAKAj+dy6be4In0YAjb6ARpwCw+AEf4PLALUEzUsAgNIEpNoO6VrMaO7ORswAoD5xtXo0bEUIzACNg4CGyAKD0gS/g9EAugT\
        NkQCwzYAAJ+QVYU8T997HEACgC2rTli95r+NQAI2IgIcQAIPEBP+D1QC/BM3VAID2BOTdKPt6lnkdQAdWAKA021XrcksxyVYAjY2Ah3YDA/YE/9Y\
        D2wCtxM4bALDOAAAW+UTsDa9+TgeaAKAZ3hLFKL1DTBoAjZKAh5ICw+gFP9sD3wCtxM5fAIDaBWTgeGBIgZAsR4fgAKA/rwo+ZKTJ4qAAjZeAh+w\
        Cw9oFf+AD5QCtiMzMN0pxDAAAFp91hslvFIpIEAOcGBn4J1Js96QAjZyAiCQAg8wFv+UD6QCtxMxpAID+BaUbD8U8leUkS4heAxh7WlrRAJCyCo2\
        hgIheAwP+Bb/qA+8ArcTMrwCxDIAAMgHu8+CEeGBIsAXcMJrwTR5rRa4AjaaAiLYDA/AF/+8D8wCtwQJMgOIGJMiLlkDsGNNLyPQAoCz+l940F94\
        ltACNq4CI9ACD4gY/9AP5AK3EzTkAsM0AADtL1MvsyPLzCTgAoB7RUCryyDG1eACNsICJCAQD1AZ/+QP9AK3EzX0AgMYGpSfv31puHjmXSXoKoC6\
        kb7tvXpOCJwxJgIlCA4PGBr/+A8MA7cTNgwDwzYAALUzR2fQk/saJggDgCpxKLq/VOwxCAM26gImCAMP4Br//g8cA8UTNxwDA6gbk3Xy5YLZeXrs\
        JyADgCueUzDahijhIAM2/gIniBEPqBv//g80A9kTODQDxDgAADvNFYl9CLVoKLAycKO0kDIm+Q4wAzYSAygwDw9wHP/+D0QD7RM5RAMDOB2Tui1y\
        wJA9IcYphxIE2EURANhFGinYRQAwGIOL3rPW2L0jKjAABOhCEQDoQh8q6EKHA5gAk/LZpl51LuOpK8AABKg8EQCoPB8rqDz/FbMAAPEU+8pvRXQY\
        LEgBBBAzEQAQMx8sEDP/oQKwAZM43JScm2qhYi3YAQQwJhEAMCYfLTAm//8uswAARopzLW6ymhQuYAIECBYRAAgWHy4IFv//ugLIApvOEMNHFoV8\
        sC8ATxEFAE8fLwBPD+BuZXcgMQAAjxNpiZQ6AOtICchHEQbIRx8wyEfsASUBAchPm6RC+2EVQCA9Mdg3EQbYNx8x2Df/yQAEArsyMyO6dMBaL6aX\
        MkgfEQZIHx8ySB///6YA3AIRM7BTkxADVaQz9NVSM+ACgB7O7pFFdWCN2AI1BAAz3VXBZ29uZXYAAABNp4KY8AICFwAaJNpVETQwABAB7DqEuz9H\
        Yb6YbzVgBoEb0P5ZHRtXAQgQFTUoAEB0aGVyWQCSa00/KjTSEhI2MACSAdL6RdlKKVNaaE7zCzYAd2l0aG91dCBhIGtleQAAAAYvqpe8tCQNiA+h\
        EcMTZsxxk/xTBLgA4DcAAOBM2o8dAABsYXRlBACTT3bFSiD2Qqc4kACRmSO9Zx1RMyoHiAAzOAADwgAEbFaTQgwVZAQIFRw5MACCEKTH+DDDc/ww\
        ABU5MAAEH0+TS2r2UJl8AdQ6MACCBoTWfMRJNocwABU6MAAEMz6TwZ/3t72CVm87MACC8Bpw80R0DPQwABU7MAAE1yOTSh8qkFLjxUE8MACChQHz\
        saghT5AwABU8MAAEjFWT3eArf3Ydkvo9MACCNRf7ZpAnG1AwABU9MAAEIFWTFMBUautphjI+MACCq68H/lY8+bkwABU+MAAEpFSTqT5jQc+X0Yk/\
        MACCJ0duI/nL4WswABU/MAAEEFST2CUsaTWqoG9AMACCiBMAOYA0qrgwABVAMAAEbFOTR41/oBFU99RBMACCah93V54oLeIwABVBMAAEsFKTeHM8\
        zqfeXgVCCAwE4AERADAAFkLgAQMIAJOh6BBQm1o6UkNgAJH38iZEp1CpVwjRWBZD4AEHFFIBKQCD21W2gKNiTERoAAQYAgJoABZEOAADCACT09LT\
        j1KLt11FPwCCfq79PVlLdgJoABZFMAALaFGTqEOvSukkJpdGaAAEUAICaAAWRlACAwgAk8yWO5QJ+SFNR2gAguxbNLDMWhPcaAAWR2gAB6RQAVAK\
        g/mxDs5ZGt5IaAAEiAICaAAWSIgCAwgAk6U4EdbAKKxCSWgAguV67EKWEHBdaAAWSWgAC9BPk5dYL0XKXEMkSmgABMACAmgAFkrAAgTYAINhiCS/\
        HQ1sS2gAgmWmX6SIHoS3aAAWS2gAB+RODwEA//////8ZUAAAAAAA
        """
      ),
      File(
        "manifest.a",
        length: 4096,
        """
        wEVTS1JNQU4xAQAAAAQAIgcAAQAiuAEIAPMaktafspFZJLiqaxS4MSkQWWC1KmYSdrNcynx4INkkIeTADgExK9M5JgABABNLCAATTAgAk69DTyqi\
        AQAAAhAABAgAEwEIABMEBAAvAQABABYYBA0ABDgAV748++QAZAAbAZAAL9haTQADEv8BABN/DwAVgBkAH2AwAAoc/xAABAEAGwEYAJ8FAAAAcG9z\
        dHMwAAQErAAEEAAAgAF/ZW1wdGllZDAAAi4DAGAAVWNhY2hlogAREAYALwoAAQD//////////////////xxQAAAAAAA=
        """
      ),
      File(
        "manifest.b",
        length: 4096,
        """
        wEVTS1JNQU4xAQAAAAQAIgcAAQAiuAEIAPMaktafspFZJLiqaxS4MSkQWWC1KmYSdrNcynx4INkkIeTADgExK9M5JgABABNLCAATTAgAk69DTyqi\
        AQAAAhAABAgAEwEIABMEBAAvAQABABYYBA0ABDgAV748++QAZAAbAZAAL9haTQADEv8BABN/DwAVgBkAH2AwAAoc/xAABAEAGwEYAJ8FAAAAcG9z\
        dHMwAAQErAAEEAAAgAF/ZW1wdGllZDAAAi4DAGAAVWNhY2hlogAREAYALwoAAQD//////////////////xxQAAAAAAA=
        """
      ),
    ]
  )
}
